// Launches on the emulated MLU: NRAM to scale, bytes moved, the cores' work and their timeline.

const ENGINES = ["IO-DMA", "Move-DMA", "vector", "scalar"];
const engineColour = (engine) => `var(--c${engine})`;

// The events of each launch by core, in microseconds from its start. The trace holds them one launch behind the other.
function eventsOf(report, trace) {
  const byLaunch = report.launches.map(() => []);
  const gap = report.arch.rates.launch_us || 0, starts = [];
  let start = 0;
  for (const launch of report.launches) {
    start += gap;
    starts.push(start);
    start += launch.time_us;
  }
  let at = 0;
  for (const event of trace.traceEvents) {
    if (event.ph !== "X") continue;
    while (at + 1 < starts.length && event.ts >= starts[at + 1] - gap / 2) ++at;
    while (at > 0 && event.ts < starts[at] - gap / 2) --at;
    (byLaunch[at][event.pid] ||= []).push({...event, ts: event.ts - starts[at]});
  }
  return byLaunch;
}

// Of cores that are all of one kind: memory cores are numbered from `first` on.
function coreNames(members, first) {
  const memory = members[0] >= first;
  return `${memory ? "memory " : ""}core${members.length > 1 ? "s" : ""} ${ranges(members.map((core) => memory ? core - first : core))}`;
}

// Cores that did the same at the same time are one.
function alike(cores, first) {
  const groups = new Map();
  cores.forEach((events, core) => {
    const key = (core >= first) + JSON.stringify(events.map((e) => [e.tid, e.name, e.ts, e.dur, e.args.bytes]));
    groups.set(key, [...(groups.get(key) || []), core]);
  });
  return [...groups.values()].map((members) => ({members, events: cores[members[0]]}));
}

// 0, 1, 2, 5 as "0-2, 5"
function ranges(numbers) {
  const parts = [];
  for (const n of numbers) {
    const last = parts[parts.length - 1];
    if (last && last[1] === n - 1) last[1] = n;
    else parts.push([n, n]);
  }
  return parts.map(([a, b]) => a === b ? `${a}` : `${a}-${b}`).join(", ");
}

const LEFT = 190, WIDTH = 1240, LANE = 16, MOST_GROUPS = 16;

// One lane for each engine that did something, of each group of cores; wheel and buttons zoom, a drag moves.
function timeline(cores, arch) {
  const first = arch.clusters * arch.cores_per_cluster, all = alike(cores, first).filter(({events}) => events.length);
  const groups = all.slice(0, MOST_GROUPS), hidden = all.length - groups.length;
  const lanes = groups.flatMap(({members, events}) => ENGINES.map((name, engine) => ({
    label: coreNames(members, first), engine, name, events: events.filter((e) => e.tid === engine)})))
    .filter((lane) => lane.events.length);
  const whole = Math.max(...lanes.flatMap((lane) => lane.events.map((e) => e.ts + e.dur)), 1e-6);
  const view = {from: 0, to: whole}, bottom = 8 + lanes.length * (LANE + 3);
  const picture = svg("svg", {viewBox: `0 0 ${WIDTH} ${bottom + 44}`, role: "img", "aria-label": "timeline", tabindex: 0, style: "touch-action: pan-y"});
  const span = el("span", {class: "soft"});
  const x = (us) => LEFT + (WIDTH - LEFT - 10) * (us - view.from) / (view.to - view.from);

  // Nothing where a bar would lie within the one before: there may be many thousands.
  function bar(event, lane, y, drawn) {
    const [from, to] = [Math.max(LEFT, x(event.ts)), Math.min(WIDTH - 10, x(event.ts + event.dur))];
    if (to < LEFT || from > WIDTH - 10 || to < drawn.to + 0.3) return null;
    drawn.to = Math.max(to, from + 0.6);
    return tipped(svg("rect", {class: "event", x: from, y, width: Math.max(0.6, to - from - 0.2), height: LANE, fill: engineColour(lane.engine)}),
      `${event.name}, task ${event.args.task}\n${bytes(event.args.bytes)}\n${number(event.ts)} us + ${number(event.dur)} us`);
  }

  function draw() {
    const scale = linearScale(view.from, view.to, LEFT, WIDTH - 10, 8);
    span.textContent = `${number(view.from)} to ${number(view.to)} us of ${number(whole)}`;
    picture.replaceChildren(
      ...scale.ticks.flatMap((tick) => [svg("line", {class: "grid", x1: x(tick), x2: x(tick), y1: 4, y2: bottom}),
        svg("text", {class: "soft", x: x(tick), y: bottom + 15, "text-anchor": "middle"}, number(tick))]),
      svg("text", {x: (LEFT + WIDTH) / 2, y: bottom + 34, "text-anchor": "middle"}, "modelled time, us"),
      ...lanes.flatMap((lane, i) => {
        const y = 6 + i * (LANE + 3), drawn = {to: 0};
        return [svg("rect", {class: "lane", x: LEFT, y, width: WIDTH - LEFT - 10, height: LANE, opacity: 0.5}),
          svg("text", {class: "soft", x: 2, y: y + 12}, lane.name === ENGINES[lane.engine] ? `${lane.label} ${lane.name}` : lane.label),
          ...lane.events.map((event) => bar(event, lane, y, drawn)).filter(Boolean)];
      }));
  }

  function zoom(factor, around) {
    const width = Math.min(whole, Math.max(whole * 1e-4, (view.to - view.from) * factor));
    const share = (around - view.from) / (view.to - view.from);
    view.from = Math.max(0, Math.min(whole - width, around - share * width));
    view.to = view.from + width;
    draw();
  }
  const timeAt = (event) => {
    const box = picture.getBoundingClientRect(), place = (event.clientX - box.left) / box.width * WIDTH;
    return view.from + (view.to - view.from) * Math.min(1, Math.max(0, (place - LEFT) / (WIDTH - LEFT - 10)));
  };
  const move = (us) => {
    const width = view.to - view.from;
    view.from = Math.max(0, Math.min(whole - width, view.from + us));
    view.to = view.from + width;
    draw();
  };
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.altKey && document.activeElement !== picture) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
  }, {passive: false});
  picture.addEventListener("pointermove", (event) => {
    if (event.buttons === 1) move(-event.movementX / picture.getBoundingClientRect().width * WIDTH / (WIDTH - LEFT) * (view.to - view.from));
  });
  picture.addEventListener("keydown", (event) => {
    const act = {"+": () => zoom(0.5, (view.from + view.to) / 2), "-": () => zoom(2, (view.from + view.to) / 2),
      ArrowLeft: () => move((view.from - view.to) / 4), ArrowRight: () => move((view.to - view.from) / 4)}[event.key];
    if (act) act(), event.preventDefault();
  });
  draw();
  const middle = () => (view.from + view.to) / 2;
  return el("div", {class: "panel"},
    el("div", {class: "controls"},
      el("button", {class: "zoom-in", onclick: () => zoom(0.5, middle())}, "zoom in"),
      el("button", {onclick: () => zoom(2, middle())}, "zoom out"),
      el("button", {onclick: () => move((view.from - view.to) / 2)}, "◂"), el("button", {onclick: () => move((view.to - view.from) / 2)}, "▸"),
      el("button", {onclick: () => zoom(1e9, 0)}, "all"), span,
      el("span", {class: "legend"}, ENGINES.map((name, i) => el("span", {}, el("i", {style: `background:${engineColour(i)}`}), name)))),
    el("div", {class: "wide"}, picture),
    el("p", {class: "soft"}, "Click it, then the wheel or + and - zoom, a drag or the arrows move." +
      (hidden > 0 ? ` ${hidden} more groups of cores are not drawn.` : "")));
}

function nramMap(launch, nram) {
  if (!launch.nram.length) return null;
  const width = 1220, end = Math.max(...launch.nram.map((r) => r.offset + r.bytes));
  const box = (offset, size, look, text) =>
    tipped(svg("rect", {...look, x: offset / nram * width, y: 0, width: Math.max(1, size / nram * width), height: 34}), text);
  const colour = (i) => `var(--c${i % 8})`;
  return el("div", {class: "panel"}, el("h3", {}, `NRAM of a core, ${bytes(nram)}, to scale`),
    svg("svg", {viewBox: `0 0 ${width} 34`, role: "img", "aria-label": "NRAM", preserveAspectRatio: "none", style: "height:34px"}, box(0, nram, {class: "free"}, `free: ${bytes(nram - end)}`),
      launch.nram.map((r, i) => box(r.offset, r.bytes, {fill: colour(i)}, `${r.name}: ${bytes(r.bytes)} at ${r.offset}`))),
    el("div", {class: "legend"}, launch.nram.map((r, i) => el("span", {}, el("i", {style: `background:${colour(i)}`}),
      `${r.name}: ${r.bytes.toLocaleString("en")} bytes at ${r.offset}`)), el("span", {class: "soft"}, `free: ${(nram - end).toLocaleString("en")} bytes`)));
}

const TRAFFIC = [
  {name: "memory", of: (t) => t.name, left: true, wrap: true},
  {name: "bytes", of: (t) => t.bytes, show: (t) => t.bytes.toLocaleString("en")},
  {name: "read", of: (t) => t.read, show: (t) => t.read.toLocaleString("en")},
  {name: "written", of: (t) => t.written, show: (t) => t.written.toLocaleString("en")},
  {name: "times its size", of: (t) => (t.read + t.written) / t.bytes},
];

// Cores with the same figures are one row.
function coreTable(cores) {
  const groups = new Map(), first = cores.filter((core) => !core.memory_core).length;
  cores.forEach((core, i) => {
    const key = JSON.stringify(core);
    groups.set(key, [...(groups.get(key) || []), i]);
  });
  const rows = [...groups.values()].map((members) => ({...cores[members[0]], members}));
  const columns = [{name: "cores", of: (c) => c.members[0], left: true, wrap: true, show: (c) => coreNames(c.members, first)},
    {name: "us", of: (c) => c.time_us}, {name: "tasks each", of: (c) => c.tasks},
    ...ENGINES.map((name) => ({name: `${name}, us`, of: (c) => c.busy_us[name]})),
    {name: "copies hidden, us", of: (c) => c.hidden_io_us}, {name: "loads", of: (c) => c.loads}, {name: "stores", of: (c) => c.stores},
    {name: "vector builtins", of: (c) => c.vector_words}];
  return liveTable(columns, () => rows, rows.length > 20).place;
}

function oneLaunch(launch, i, events, report, note) {
  const moved = launch.tensors.filter((t) => t.read + t.written > 0);
  return el("section", {id: `launch${i}`},
    el("h2", {}, `Launch ${i}: ${launch.kernel}`),
    el("p", {class: "soft"}, `${launch.type} {${launch.dim.join(", ")}}, ${number(launch.time_us)} us modelled${note.file ? `, ${note.file}` : ""}`),
    note.fault ? el("p", {class: "fault"}, note.fault) : null,
    hotLines(launch, report.sources || {}),
    nramMap(launch, report.arch.nram_bytes),
    moved.length ? [el("h3", {}, "Bytes moved"), liveTable(TRAFFIC, () => moved).place] : null,
    launch.cores.length ? [el("h3", {}, "Cores"), coreTable(launch.cores)] : null,
    events.some((core) => core && core.length) ? [el("h3", {}, "Timeline"), timeline(Array.from(events, (core) => core || []), report.arch)] : null);
}

function launchesPage(data) {
  const {report, trace} = data, {arch, launches, totals} = report, events = eventsOf(report, trace);
  const notes = data.notes || launches.map(() => ({}));
  const list = launches.map((launch, i) => ({launch, i, note: notes[i]}));
  const dropped = trace.otherData.dropped_events;
  const faults = notes.filter((note) => note.fault).length;
  const columns = [
    {name: "launch", of: (r) => r.i, left: true, wrap: true, show: (r) => el("a", {href: `#launch${r.i}`}, `${r.i} ${r.launch.kernel}`)},
    {name: "type", of: (r) => r.launch.type, left: true}, {name: "tasks", of: (r) => r.launch.dim.reduce((a, b) => a * b, 1)},
    {name: "us", of: (r) => r.launch.time_us}, {name: "file", of: (r) => r.note.file || "", left: true, wrap: true},
    {name: "fault", of: (r) => r.note.fault ? "yes" : "", left: true}];
  show(el("h1", {}, data.title || report.op), el("p", {class: "soft"},
    `${launches.length} launch${launches.length === 1 ? "" : "es"} on an emulated ${arch.name}, ${arch.clusters} clusters of ${arch.cores_per_cluster} cores. Times are modelled, never measured.` +
      (dropped ? ` The timelines show the first events; ${dropped.toLocaleString("en")} are left out.` : "")),
  el("div", {class: "cards"}, card(`${number(totals.time_us)} us`, "in kernels"), card(`${number(totals.time_with_launches_us)} us`, "with launches"),
    card(bytes(totals.gdram_moved_bytes), `moved; ${bytes(totals.gdram_minimum_bytes)} needed`),
    card(`${number(100 * totals.io_efficiency)} %`, "IO efficiency"), card(`${number(100 * totals.compute_efficiency)} %`, "compute efficiency"),
    card(`${number(100 * totals.hidden_io_share)} %`, "of copies hidden"), faults ? card(faults, "faults", "bad") : null),
  launches.length > 1 || data.notes ? section("Launches", liveTable(columns, () => list, launches.length > 20).place) : [],
  list.map(({launch, i, note}) => oneLaunch(launch, i, events[i], report, note)));
}
