"use strict";
// What the pages share: elements, numbers, axes, tables that sort and filter, the tip under the pointer.

const SVG = "http://www.w3.org/2000/svg";

// An element with attributes; children are elements or text.
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) element.append(child);
  return element;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// Three significant digits, without exponents where people do not write them.
function number(x) {
  if (x === undefined || x === null || Number.isNaN(x)) return "";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e12 || size < 1e-3) return x.toExponential(1);
  return size >= 100 ? Math.round(x).toLocaleString("en") : String(Number(x.toPrecision(3)));
}

function bytes(x) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (x >= size) return `${number(x / size)} ${unit}`;
  }
  return `${x} bytes`;
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const card = (value, text, kind) => el("div", {class: "card"}, el("b", {class: kind}, value), el("span", {}, text));
const section = (title, ...content) => [el("h2", {}, title), ...content];

// The tip: every element made with a `tip` shows it under the pointer, and to screen readers as its label.
function tipped(element, text) {
  const tip = document.getElementById("tip");
  element.setAttribute("aria-label", text);
  element.addEventListener("pointermove", (event) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
    tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
  });
  element.addEventListener("pointerleave", () => { tip.hidden = true; });
  return element;
}

// Scales: a value to a place, with its ticks.
function logScale(low, high, from, to) {
  const bottom = Math.floor(Math.log10(low)), top = Math.max(bottom + 1, Math.ceil(Math.log10(high)));
  const ticks = [];
  for (let decade = bottom; decade <= top; ++decade) ticks.push(10 ** decade);
  return {low: 10 ** bottom, high: 10 ** top, ticks, at: (x) => from + (to - from) * (Math.log10(x) - bottom) / (top - bottom)};
}

function linearScale(low, high, from, to, wanted) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((multiple) => multiple * power >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-9); ++i) ticks.push(Number((i * step).toPrecision(12)));
  return {low, high, ticks, at: (x) => from + (to - from) * (x - low) / (high - low)};
}

// Grid, ticks and names of both axes.
function axes(x, y, box, names) {
  const middle = (box.top + box.bottom) / 2;
  return svg("g", {},
    x.ticks.map((tick) => [
      svg("line", {class: "grid", x1: x.at(tick), x2: x.at(tick), y1: box.top, y2: box.bottom}),
      svg("text", {class: "soft", x: x.at(tick), y: box.bottom + 16, "text-anchor": "middle"}, number(tick))]),
    y.ticks.map((tick) => [
      svg("line", {class: "grid", x1: box.left, x2: box.right, y1: y.at(tick), y2: y.at(tick)}),
      svg("text", {class: "soft", x: box.left - 6, y: y.at(tick) + 4, "text-anchor": "end"}, number(tick))]),
    svg("rect", {class: "axis", x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, fill: "none"}),
    svg("text", {x: (box.left + box.right) / 2, y: box.bottom + 34, "text-anchor": "middle"}, names.x),
    svg("text", {x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})`}, names.y));
}

// columns: {name, of(row), show(row), left, wrap}. Sorts by a click on a heading: numbers downwards first.
function sortedTable(columns, rows, state) {
  const by = columns[state.column];
  const order = [...rows];
  if (by) {
    order.sort((a, b) => {
      const [p, q] = [by.of(a), by.of(b)];
      if (p === undefined || q === undefined) return (p === undefined) - (q === undefined);
      return (p < q ? -1 : p > q ? 1 : 0) * state.direction;
    });
  }
  const heading = (column, i) => {
    const arrow = i !== state.column ? "" : state.direction > 0 ? " ▴" : " ▾";
    const sort = state.column === i && (state.direction > 0 ? "ascending" : "descending");
    return el("th", {class: column.left && "l", "aria-sort": sort, title: column.about},
      el("button", {onclick: () => state.sort(i)}, column.name + arrow));
  };
  const cell = (column, row) => el("td", {class: [column.left && "l", column.wrap && "wrap"].filter(Boolean).join(" ")},
    column.show ? column.show(row) : column.left ? String(column.of(row)) : number(column.of(row)));
  return el("table", {}, el("thead", {}, el("tr", {}, columns.map(heading))),
    el("tbody", {}, order.map((row) => el("tr", {}, columns.map((column) => cell(column, row))))));
}

// A table that sorts itself and draws again; rows() is asked each time.
function liveTable(columns, rows, tall) {
  const place = el("div", {class: tall ? "scroll tall" : "scroll"});
  const state = {column: -1, direction: 1, sort(i) {
    const first = columns[i].left ? 1 : -1;
    state.direction = state.column === i ? -state.direction : first;
    state.column = i;
    draw();
  }};
  const draw = () => place.replaceChildren(sortedTable(columns, rows(), state));
  draw();
  return {place, draw};
}

function choice(name, values, changed) {
  return el("select", {"aria-label": name, onchange: (event) => changed(event.target.value)},
    el("option", {value: ""}, `every ${name}`), values.map((value) => el("option", {value}, value)));
}

const unique = (values) => [...new Set(values)];
const show = (...content) => document.getElementById("page").append(...content.flat(Infinity));
