// Charts: inline SVG, drawn from plain arrays, coloured by the style sheet.
import { h, number } from "./dom.js";

const WIDTH = 520;
const HEIGHT = 210;
const LEFT = 46;
const BOTTOM = 24;

function nice(most) {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  // Quarters of these are round numbers, too.
  return [1.2, 2, 4, 8, 12].map((step) => step * power).find((step) => step >= most);
}

// series: [{name, points: [[x, y], ...], dashed}]
export function lines(series, { label, xLabel = "", yLabel = "", format = number, top: highest = 0 } = {}) {
  const points = series.flatMap((one) => one.points);
  const right = nice(Math.max(1, ...points.map(([x]) => x)));
  const top = highest || nice(Math.max(...points.map(([, y]) => y), 0));
  const x = (value) => LEFT + (value / right) * (WIDTH - LEFT - 8);
  const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - 12);
  const parts = [];
  for (let step = 0; step <= 4; step += 1) {
    const value = (top * step) / 4;
    parts.push(h("line", { class: "axis", x1: LEFT, x2: WIDTH - 8, y1: y(value), y2: y(value) }));
    parts.push(h("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)));
    const across = (right * step) / 4;
    parts.push(h("text", { x: x(across), y: HEIGHT - 8, "text-anchor": step === 4 ? "end" : "middle" }, number(across)));
  }
  series.forEach((one, index) => {
    parts.push(h("polyline", {
      class: "line",
      style: { stroke: `var(--c${index % 6})` },
      "stroke-dasharray": one.dashed ? "5 4" : null,
      points: one.points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(" "),
    }));
  });
  const drawing = h("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, parts);
  const legend = series.length > 1 || series[0]?.name
    ? h("div", { class: "legend" }, series.map((one, index) =>
      h("span", {}, h("i", { style: { background: `var(--c${index % 6})` } }), one.name)))
    : null;
  const axes = xLabel || yLabel ? h("p", { class: "soft small" }, `${yLabel}${yLabel && xLabel ? " over " : ""}${xLabel}`) : null;
  return h("figure", { style: { margin: 0 } }, drawing, legend, axes);
}

// rows: [[name, count, extra], ...]
// A name may be an element, such as a link.
export function bars(rows, { format = number, empty = "Nothing yet.", most: highest = 0 } = {}) {
  if (!rows.length) return h("p", { class: "soft small" }, empty);
  const most = highest || Math.max(...rows.map(([, count]) => count), 1e-9);
  return h("div", { class: "bars" }, rows.map(([name, count, extra]) => [
    name instanceof Element ? h("span", { class: "name", title: name.textContent }, name)
      : h("span", { class: "name", title: String(name) }, String(name)),
    h("span", { class: "bar" }, h("i", { style: { width: `${(100 * count) / most}%` } })),
    h("span", { class: "count" }, format(count), extra ? ` ${extra}` : ""),
  ]));
}

// spread: {low, high, counts}, as the status of a crawl has it
export function histogram(spread, label) {
  if (!spread || !spread.counts || !spread.counts.some(Boolean)) return h("p", { class: "soft small" }, "Nothing waits.");
  const { low, high, counts } = spread;
  const most = nice(Math.max(...counts));
  const wide = (WIDTH - LEFT - 8) / counts.length;
  const y = (value) => HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - 12);
  const parts = [];
  for (let step = 0; step <= 4; step += 1) {
    const value = (most * step) / 4;
    parts.push(h("line", { class: "axis", x1: LEFT, x2: WIDTH - 8, y1: y(value), y2: y(value) }));
    parts.push(h("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, number(value)));
    parts.push(h("text", { x: LEFT + ((WIDTH - LEFT - 8) * step) / 4, y: HEIGHT - 8, "text-anchor": step === 4 ? "end" : "middle" },
      number(low + ((high - low) * step) / 4)));
  }
  counts.forEach((count, index) => {
    const from = low + ((high - low) * index) / counts.length;
    parts.push(h("rect", { class: "column", x: (LEFT + index * wide + 1).toFixed(1), width: (wide - 2).toFixed(1), y: y(count).toFixed(1), height: (HEIGHT - BOTTOM - y(count)).toFixed(1), rx: 2 },
      h("title", {}, `score ${from.toFixed(2)} to ${(from + (high - low) / counts.length).toFixed(2)}: about ${number(count)} links`)));
  });
  return h("figure", { style: { margin: 0 } },
    h("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, parts),
    h("p", { class: "soft small" }, "links over their score, estimated from a sample"));
}

// The papers' figure: D-numbers across, their length up, words of the anchor dark, regions outlined.
export function galaxy(plot) {
  const wide = 900;
  const high = 260;
  const longest = Math.max(4, ...plot.dots.map((dot) => dot.length));
  const heaviest = Math.max(...plot.dots.map((dot) => dot.weight), 1e-9);
  const x = (value) => 30 + (value / 1000) * (wide - 40);
  const y = (length) => high - 30 - ((length - 1) / Math.max(1, longest - 1)) * (high - 60);
  const parts = [];
  for (let hundred = 0; hundred <= 10; hundred += 1) {
    parts.push(h("line", { class: "axis", x1: x(hundred * 100), x2: x(hundred * 100), y1: 8, y2: high - 22 }));
    if (hundred < 10) parts.push(h("text", { x: x(hundred * 100 + 50), y: high - 6, "text-anchor": "middle" }, `${hundred}00`));
  }
  for (let length = 1; length <= longest; length += 1) {
    parts.push(h("text", { x: 22, y: y(length) + 4, "text-anchor": "end" }, String(length)));
  }
  plot.regions.forEach((step, depth) => {
    const won = step.find((region) => region.won);
    if (!won) return;
    const start = Number(`${won.prefix.slice(0, 3).padEnd(3, "0")}.${won.prefix.slice(3) || 0}`);
    const span = 1000 / 10 ** (depth + 1);
    parts.push(h("rect", {
      x: x(start) - 2, y: 8 + 4 * depth, width: Math.max(5, x(start + span) - x(start)) + 4,
      height: high - 34 - 8 * depth, fill: "none", rx: 3,
      style: { stroke: `var(--c${(depth + 1) % 6})`, strokeWidth: 1.6 },
    }, h("title", {}, `${won.prefix}: ${won.name}`)));
  });
  plot.dots.forEach((dot) => {
    parts.push(h("circle", {
      cx: x(dot.x).toFixed(1), cy: y(dot.length).toFixed(1),
      r: (2.2 + 5 * Math.sqrt(dot.weight / heaviest)).toFixed(1),
      style: dot.anchor
        ? { fill: "var(--ink)", fillOpacity: 0.95 }
        : { fill: "var(--c0)", fillOpacity: 0.38 },
    }, h("title", {}, `${dot.word} → ${dot.number}${dot.anchor ? " (anchor)" : ""}`)));
  });
  return h("svg", { class: "chart", viewBox: `0 0 ${wide} ${high}`, role: "img",
    "aria-label": "Galaxy: Dewey numbers of the page's words against their length" }, parts);
}

const STRONGEST = 8;

// features: {name: [value, weight] or {value, weight}}; what spoke most for and against a link
export function contributions(features) {
  const rows = Object.entries(features)
    .map(([name, given]) => [name, ...(Array.isArray(given) ? given : [given.value || 0, given.weight || 0])])
    .map(([name, value, weight]) => ({ name, value, weight, share: value * weight }))
    .filter((row) => row.share)
    .sort((a, b) => Math.abs(b.share) - Math.abs(a.share))
    .slice(0, STRONGEST);
  if (!rows.length) return null;
  const most = Math.abs(rows[0].share);
  return h("div", { class: "bars features" }, rows.map((row) => [
    h("span", { class: "name" }, row.name.replaceAll("_", " ")),
    h("span", { class: "bar" }, h("i", { class: row.share < 0 ? "against" : "", style: { width: `${(100 * Math.abs(row.share)) / most}%` } })),
    h("span", { class: "count" }, `${row.value.toFixed(2)} × ${row.weight.toFixed(2)} = ${row.share.toFixed(2)}`),
  ]));
}
