// Where the time of a launch goes, beside its source, and what changes would make of it.

const CHANGES = {two_buffers: "two buffers in turn", larger_tiles: "tiles twice as large", whole_copies: "copies in one piece",
  half_the_clusters: "half of the clusters"};

// What each line came to: its words, the one that held the core longest first.
function byLine(launch) {
  const lines = new Map();
  for (const line of launch.lines) {
    const key = line.file ? `${line.file}\n${line.line}` : line.word;
    lines.set(key, [...(lines.get(key) || []), line]);
  }
  return [...lines.values()].map((words) => {
    words.sort((a, b) => b.held_us - a.held_us);
    const [{file, line, word, engine}] = words, same = words.filter((w) => w.engine === engine);
    return {file, line, word, engine, held: words.reduce((sum, w) => sum + w.held_us, 0), words,
      bytes: same.reduce((sum, w) => sum + w.bytes, 0)};
  });
}

function sourceRow(number_, text, cost, whole) {
  const share = cost ? cost.held / whole : 0;
  const about = cost && cost.words.map((w) => `${w.word}: ${w.times} times, ${bytes(w.bytes)}, ${number(w.held_us)} us`).join("\n");
  const row = el("tr", {class: cost && cost.held > 0 ? "hot" : ""},
    el("td", {}, cost && cost.held > 0 ? [el("span", {class: "meter"}, el("i", {style: `width:${(100 * share).toFixed(1)}%;background:${cost.engine ? engineColour(ENGINES.indexOf(cost.engine)) : "var(--soft)"}`})), `${Math.round(100 * share)} %`] : ""),
    el("td", {}, cost && cost.held > 0 ? number(cost.held) : ""), el("td", {}, cost && cost.bytes ? bytes(cost.bytes) : ""),
    el("td", {class: "l"}, cost ? cost.engine || "waits" : ""), el("td", {class: "soft"}, number_),
    el("td", {class: "l code"}, text));
  return about ? tipped(row, about) : row;
}

function hotLines(launch, sources) {
  if (!launch.lines || !launch.time_us) return null;
  const costs = byLine(launch), rows = [];
  for (const file of unique(costs.map((cost) => cost.file)).sort()) {
    const here = costs.filter((cost) => cost.file === file).sort((a, b) => a.line - b.line), source = sources[file];
    if (file) rows.push(el("tr", {}, el("th", {class: "l", colspan: 6}, file)));
    if (!source) here.forEach((cost) => rows.push(sourceRow(file ? cost.line : "", cost.word, cost, launch.time_us)));
    else {
      const first = Math.max(source.first, here[0].line - 2), last = here[here.length - 1].line + 2;
      source.lines.slice(first - source.first, last - source.first + 1).forEach((text, i) =>
        rows.push(sourceRow(first + i, text, here.find((cost) => cost.line === first + i), launch.time_us)));
    }
  }
  const changes = Object.entries(launch.what_if).map(([name, us]) => `${CHANGES[name]} ${(us / launch.time_us).toFixed(2)}x`);
  return [el("h3", {}, "Lines"), el("ul", {class: "sentences"}, launch.sentences.map((sentence) => el("li", {}, sentence))),
    changes.length ? el("p", {class: "soft"}, `What if: ${changes.join(", ")} of the time.`) : null,
    el("div", {class: `scroll lines${rows.length > 30 ? " tall" : ""}`}, el("table", {},
      el("thead", {}, el("tr", {}, ["time", "us", "bytes", "engine", "line", ""].map((name) => el("th", {class: name === "engine" ? "l" : ""}, name)))),
      el("tbody", {}, rows)))];
}
