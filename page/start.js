{
  const data = JSON.parse(document.getElementById("data").textContent);
  document.getElementById("page").replaceChildren();
  ({bench: benchPage, launches: launchesPage})[data.kind](data);
}
