// A run of the benchmark: the machine, its roof, every row, growth and threads.

const LIMITS = {read: "--c0", fill: "--c1", copy: "--c2", fma: "--c3"};
const colourOf = (limit) => `var(${LIMITS[limit] || "--c7"})`;
const measured = (row) => row.median_ms !== undefined;
const told = (row) => `${row.operator}, ${row.dtype}, ${row.threads} thr\n${row.case}\n${number(row.median_ms)} ms, bound ` +
  `${number(row.bound_ms)} ms (${row.limit}): ${number(100 * row.share)} %`;

// Forward, or the only direction: a disc; backward: a square; half: hollow.
function mark(row, x, y, chosen) {
  const colour = colourOf(row.limit);
  const look = {class: "mark", "data-family": row.family, stroke: colour, fill: row.dtype === "half" ? "none" : colour,
    onclick: () => chosen(row.family)};
  const shape = /backward|grad/.test(row.operator) ? svg("rect", {...look, x: x - 4, y: y - 4, width: 8, height: 8})
    : svg("circle", {...look, cx: x, cy: y, r: 4.5});
  return tipped(shape, told(row));
}

const BOX = {left: 66, right: 590, top: 14, bottom: 360};
const plot = (name, ...content) => el("div", {class: "panel"},
  svg("svg", {viewBox: "0 0 610 404", role: "img", "aria-label": name}, ...content));

function roofline(rows, roof, chosen) {
  const with_flops = rows.filter((row) => row.flops > 0);
  const intensity = (row) => row.flops / (row.read_bytes + row.write_bytes);
  const rate = (row) => row.flops / row.median_ms * 1e-6;
  const peak = roof.flops * 1e-9, copy = roof.copy * 1e-9;
  const x = logScale(Math.min(0.1, ...with_flops.map(intensity)), Math.max(1000, ...with_flops.map(intensity)), BOX.left, BOX.right);
  const y = logScale(Math.min(peak / 10, ...with_flops.map(rate)), peak * 1.5, BOX.bottom, BOX.top);
  const start = Math.max(x.low, y.low / copy), ridge = peak / copy, slope = Math.sqrt(start * ridge);
  return plot("roofline", axes(x, y, BOX, {x: "flops per byte that must move", y: "GFLOP/s"}),
    svg("path", {class: "roof", d: `M${x.at(start)} ${y.at(start * copy)}L${x.at(ridge)} ${y.at(peak)}L${BOX.right} ${y.at(peak)}`}),
    svg("text", {x: BOX.right - 6, y: y.at(peak) - 7, "text-anchor": "end"}, `multiply-add ${number(peak)} GFLOP/s`),
    svg("text", {x: x.at(slope) + 10, y: y.at(slope * copy) + 8}, `copy ${number(copy)} GB/s`),
    with_flops.map((row) => mark(row, x.at(intensity(row)), y.at(rate(row)), chosen)));
}

function againstBound(rows, chosen) {
  const times = rows.flatMap((row) => [row.bound_ms, row.median_ms]);
  const low = Math.min(...times), high = Math.max(...times);
  const x = logScale(low, high, BOX.left, BOX.right), y = logScale(low, high, BOX.bottom, BOX.top);
  const line = (share) => [
    svg("line", {class: share === 1 ? "roof" : "share", x1: x.at(x.low), y1: y.at(x.low / share), x2: x.at(x.high * share), y2: y.at(x.high)}),
    svg("text", {class: "soft", x: x.at(x.high * share) - 4, y: BOX.top + 14 + (share < 1 ? 14 : 0) + (share < 0.5 ? 14 : 0),
      "text-anchor": "end"}, `${share * 100} %`)];
  return plot("time against the bound", axes(x, y, BOX, {x: "bound, ms", y: "median, ms"}), [1, 0.5, 0.1].map(line),
    rows.map((row) => mark(row, x.at(row.bound_ms), y.at(row.median_ms), chosen)));
}

// Both pictures; a family is picked out by its name or by a click on one of its marks.
function pictures(rows, roof) {
  const families = unique(rows.map((row) => row.family)).sort();
  const chips = families.map((family) => el("button", {"aria-pressed": "false", onclick: () => choose(family)}, family));
  let chosen = "";
  function choose(family) {
    chosen = chosen === family ? "" : family;
    chips.forEach((chip, i) => chip.setAttribute("aria-pressed", families[i] === chosen));
    for (const each of panels.querySelectorAll(".mark")) {
      each.classList.toggle("faint", chosen !== "" && each.dataset.family !== chosen);
    }
  }
  const panels = el("div", {class: "panels"}, roofline(rows, roof, choose), againstBound(rows, choose));
  const kinds = [["read", "reading"], ["fill", "writing"], ["copy", "reading and writing"], ["fma", "arithmetic"]];
  return section("Under the roof",
    el("p", {class: "soft"}, `Backend cpu, ${roof.threads} threads. Left: rows with arithmetic; right: all. Nothing can be faster than the bold line.`),
    el("div", {class: "legend"}, kinds.map(([limit, text]) =>
      el("span", {}, el("i", {style: `background:${colourOf(limit)}`}), `bound by ${text}`)),
      el("span", {}, "disc: forward or only; square: backward; hollow: half")),
    panels, el("div", {class: "chips"}, chips));
}

function meter(share) {
  if (share === undefined) return "";
  const width = Math.min(100, 100 * share);
  return el("span", {}, el("span", {class: "meter"}, el("i", {style: `width:${width}%`})), `${number(100 * share)} %`);
}

const COLUMNS = [
  {name: "operator", of: (row) => row.operator, left: true},
  {name: "dtype", of: (row) => row.dtype, left: true},
  {name: "backend", of: (row) => row.backend, left: true},
  {name: "threads", of: (row) => row.threads},
  {name: "ms", of: (row) => row.median_ms, about: "median of the measured calls"},
  {name: "bound", of: (row) => row.bound_ms, about: "what the machine cannot beat, ms"},
  {name: "of the bound", of: (row) => row.share, show: (row) => meter(row.share)},
  {name: "by", of: (row) => row.limit || "", left: true, about: "which figure of the roof the bound comes from"},
  {name: "PyTorch", of: (row) => row.peer_ms && row.peer_ms / row.median_ms, about: "times as long as a composition of stock PyTorch operators takes",
    show: (row) => row.peer_ms ? `${number(row.peer_ms / row.median_ms)} x` : ""},
  {name: "diff1", of: (row) => row.diff1, about: "sum |a - b| / sum |b|"},
  {name: "diff2", of: (row) => row.diff2, about: "sqrt(sum (a - b)^2 / sum b^2)"},
  {name: "verdict", of: (row) => row.verdict, left: true,
    show: (row) => el("span", {class: {ok: "good", wrong: "bad", failed: "bad"}[row.verdict] || "soft", title: row.reason}, row.verdict)},
  {name: "case", of: (row) => row.case, left: true, wrap: true, show: (row) => row.case + (row.reduced ? " (reduced)" : "")},
];

function everyRow(rows) {
  const wanted = {text: "", dtype: "", backend: "", verdict: "", family: ""};
  const matches = (row) => ["dtype", "backend", "verdict", "family"].every((key) => !wanted[key] || row[key] === wanted[key]) &&
    wanted.text.toLowerCase().split(/\s+/).every((word) => `${row.operator} ${row.case}`.toLowerCase().includes(word));
  const count = el("span", {class: "soft", id: "count"});
  const table = liveTable(COLUMNS, () => {
    const kept = rows.filter(matches);
    count.textContent = `${kept.length} of ${rows.length} rows`;
    return kept;
  }, true);
  const filter = (key) => (value) => { wanted[key] = value; table.draw(); };
  return section("Every row",
    el("div", {class: "controls"},
      el("input", {type: "search", placeholder: "operator or case, e.g. carafe h=25", "aria-label": "filter", oninput: (event) => filter("text")(event.target.value)}),
      ["family", "backend", "dtype", "verdict"].map((key) => choice(key, unique(rows.map((row) => row[key])).sort(), filter(key))), count),
    table.place);
}

// Lines of y over x on logarithmic axes.
function chart(lines, names) {
  const points = lines.flatMap((line) => line.points);
  const box = {left: 58, right: 400, top: 10, bottom: 180};
  const x = logScale(Math.min(...points.map((p) => p[0])), Math.max(...points.map((p) => p[0])), box.left, box.right);
  x.ticks = unique(points.map((p) => p[0])).sort((a, b) => a - b);
  const first = x.ticks[0], last = x.ticks[x.ticks.length - 1];
  x.at = (value) => last === first ? box.left : box.left + (box.right - box.left) * Math.log(value / first) / Math.log(last / first);
  const y = logScale(Math.min(...points.map((p) => p[1])), Math.max(...points.map((p) => p[1])), box.bottom, box.top);
  const colour = (i) => `var(--c${i % 8})`;
  return el("div", {},
    svg("svg", {viewBox: "0 0 420 224", role: "img", "aria-label": `${names.y} over ${names.x}`}, axes(x, y, box, names),
      lines.map((line, i) => [
        svg("path", {class: "series", stroke: colour(i), d: line.points.map((p, k) => `${k ? "L" : "M"}${x.at(p[0])} ${y.at(p[1])}`).join("")}),
        line.points.map((p) => tipped(svg("circle", {cx: x.at(p[0]), cy: y.at(p[1]), r: 4, fill: colour(i)}), `${line.name}: ${number(p[0])}, ${number(p[1])}`))])),
    el("div", {class: "legend"}, lines.map((line, i) => el("span", {}, el("i", {style: `background:${colour(i)}`}), line.name))));
}

// By case and dtype, the rows of each number of threads, where there are several.
function threadLines(rows) {
  const lines = new Map();
  for (const row of rows.filter((r) => measured(r) && r.backend === "cpu")) {
    const name = `${row.dtype}, ${row.case}`;
    lines.set(name, [...(lines.get(name) || []), [row.threads, row.median_ms]]);
  }
  return [...lines].filter(([, points]) => points.length > 1).map(([name, points]) => ({name, points: points.sort((a, b) => a[0] - b[0])}));
}

function oneOperator(name, rows, growth) {
  const own = rows.filter((row) => row.operator === name), cpu = own.filter((row) => measured(row) && row.backend === "cpu");
  const threads = threadLines(own), steps = growth.filter((row) => row.operator === name);
  const speedups = threads.map(({points}) => points[0][1] / points[points.length - 1][1]);
  const worst = Math.max(...own.map((row) => row.diff2 || 0)), peers = cpu.filter((row) => row.peer_ms);
  const more = steps.filter((step) => !step.linear);
  const facts = [
    cpu.length ? `${number(100 * median(cpu.map((row) => row.share)))} % of the bound` : "not measured on cpu",
    speedups.length ? `${number(median(speedups))} x by threads` : null,
    steps.length ? more.length ? `grows faster than its work with ${more.map((step) => step.parameter).join(", ")}` : "grows with its work" : null,
    own.some((row) => row.diff2 !== undefined) ? `diff2 at most ${number(worst) || 0}` : null,
    peers.length ? `PyTorch takes ${number(median(peers.map((row) => row.peer_ms / row.median_ms)))} x` : null];
  const charts = [
    threads.length ? el("div", {}, el("h3", {}, "Threads"), chart(threads.slice(0, 8), {x: "threads", y: "ms"})) : null,
    steps.length ? el("div", {}, el("h3", {}, "Growth"),
      chart(steps.map((step) => ({name: `${step.parameter}: time ^${number(step.exponent)}, work ^${number(step.of_work)}`,
        points: step.ms.map((ms, i) => [2 ** i, ms])})), {x: "times the parameter", y: "ms"})) : null];
  const refusals = unique(own.filter((row) => row.reason).map((row) => `${row.backend}: ${row.verdict}: ${row.reason}`));
  return el("details", {"data-operator": name},
    el("summary", {}, el("b", {}, name), facts.filter(Boolean).map((fact) => el("span", {class: "soft"}, fact))),
    el("div", {}, el("div", {class: "panels"}, charts), refusals.map((text) => el("p", {class: "soft"}, text))));
}

function machineTable(machine) {
  const giga = (key) => ({name: `${key}, GB/s`, of: (roof) => roof[key] * 1e-9});
  const columns = [{name: "threads", of: (roof) => roof.threads}, giga("read"), giga("fill"), giga("copy"),
    {name: "multiply-add, GFLOP/s", of: (roof) => roof.flops * 1e-9}];
  return liveTable(columns, () => machine.roofs).place;
}

function benchPage(data) {
  const {machine, rows} = data, roof = machine.roofs[machine.roofs.length - 1];
  const drawn = rows.filter((row) => measured(row) && !row.reduced && row.backend === "cpu" && row.threads === roof.threads);
  const bad = rows.filter((row) => row.verdict === "wrong" || row.verdict === "failed").length;
  const ok = rows.filter((row) => row.verdict === "ok").length, operators = unique(rows.map((row) => row.operator));
  const peers = drawn.filter((row) => row.peer_ms).map((row) => row.peer_ms / row.median_ms);
  show(el("h1", {}, "mluop-host: what the operators cost here"),
    el("p", {class: "soft"}, `${machine.processor}, ${machine.vectors}, ${roof.threads} threads`),
    el("div", {class: "cards"}, card(operators.length, "operators"), card(ok, "rows right", "good"),
      card(bad, "wrong or failed", bad ? "bad" : ""),
      card(drawn.length ? `${number(100 * median(drawn.map((row) => row.share)))} %` : "-", "of the bound, median on cpu"),
      peers.length ? card(`${number(median(peers))} x`, "as long in PyTorch, median") : null),
    section("The machine", machineTable(machine)), drawn.length ? pictures(drawn, roof) : [], everyRow(rows),
    section("Operator by operator", el("p", {class: "soft"}, "Threads and growth, where they were measured; open one."),
      operators.map((name) => oneOperator(name, rows, data.growth || []))));
}
