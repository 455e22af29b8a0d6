// A T-Graph: levels as columns, targets on the right, the ways between them, and its journal.
import { get, h, notice, number, outside, percent, token } from "./dom.js";
import { order, refill } from "./live.js";

export async function tgraph(place, name) {
  const address = `/api/jobs/${encodeURIComponent(name)}/tgraph`;
  const body = h("div", {});
  place.append(h("h1", {}, `T-Graph of ${name}`), body);
  let leave = () => {};
  const fill = async () => {
    leave();
    leave = show(body, await get(address), name, fill);
  };
  await fill();
  return () => leave();
}

function show(body, graph, name, fill) {
  const head = h("p", { class: "soft" }, h("a", { href: `/crawls/${encodeURIComponent(name)}`, "data-link": true }, name),
    ` · ${graph.topic || "no topic yet"} · ${number(graph.nodes)} nodes · ${number(graph.changes)} changes · `,
    h("a", { href: `/api/jobs/${encodeURIComponent(name)}/tgraph.svg`, target: "_blank", rel: "noopener" }, "as a picture"));
  if (!graph.nodes && !graph.changes) {
    refill(body, head, notice("The graph is empty: no way to a page on topic has been seen yet, or the crawl has not saved it."));
    return () => {};
  }
  const detail = h("section", { class: "card", "aria-live": "polite" }, h("h2", {}, "A node"), h("p", { class: "soft" }, "Choose a node to see its five components. Lines lead to the pages that its links reach."));
  const boxes = [];
  let chosen = null;
  const choose = (box) => {
    chosen = box;
    for (const one of boxes) if (one.node) one.element.setAttribute("aria-pressed", String(one === box));
    describe(box.node, detail);
    draw();
  };
  const columns = [...graph.levels].reverse().filter((level) => level.nodes).map((level) => column(level, boxes, choose));
  columns.push(h("div", { class: "level" }, h("h3", {}, "Targets"), h("p", { class: "soft small" }, "pages on topic"), graph.targets.map((url) => {
    const element = h("div", { class: "target", title: url }, outside(url, shortName(url)), h("span", { class: "soft small" }, siteOf(url)));
    boxes.push({ element, level: 0, url });
    return element;
  })));
  const lines = h("svg", { class: "ways", "aria-hidden": "true" });
  const levels = h("div", { class: "levels card", tabindex: 0, role: "region", "aria-label": "Levels" }, lines, columns);
  const edges = ways(boxes);
  const draw = () => drawWays(levels, lines, edges, chosen);
  refill(body, head, levels, detail, journal(graph, name, fill));
  const observer = new ResizeObserver(draw);
  observer.observe(levels);
  return () => observer.disconnect();
}

const siteOf = (url) => (URL.canParse(url) ? new URL(url).host : "");

function shortName(url) {
  try {
    const parsed = new URL(url);
    return decodeURIComponent(parsed.pathname.replace(/\/$/, "").split("/").pop()).replaceAll("_", " ") || parsed.host;
  } catch { return url; }
}

function column(level, boxes, choose) {
  return h("div", { class: "level" },
    h("h3", {}, `Level ${level.level}`),
    h("p", { class: "soft small" }, `${level.shown.length < level.nodes ? `${level.shown.length} of ` : ""}${number(level.nodes)} nodes${level.dead ? `, ${level.dead} dead` : ""} · hit rate ${level.hit_rate === null ? "–" : percent(level.hit_rate)} of ${number(level.fetches)}`),
    level.shown.map((node) => {
      const element = h("button", { type: "button", class: node.dead ? "node dead" : "node", "aria-pressed": "false", onclick: () => choose(box) },
        node.title || "(no words)", h("span", { class: "soft small" }, ` ${node.hit_rate === null ? "" : percent(node.hit_rate)}${node.dead ? " dead" : ""}`));
      const box = { element, level: level.level, url: node.source, node };
      boxes.push(box);
      return element;
    }));
}

// A way leads from a node to the boxes of the next level that stand for its destinations.
function ways(boxes) {
  const places = new Map();
  for (const box of boxes) {
    const key = `${box.level} ${box.url}`;
    places.set(key, [...(places.get(key) || []), box]);
  }
  return boxes.filter((box) => box.node).flatMap((box) =>
    box.node.destinations.flatMap((url) => (places.get(`${box.level - 1} ${url}`) || []).map((end) => [box, end])));
}

function drawWays(levels, lines, edges, chosen) {
  const frame = levels.getBoundingClientRect();
  const at = (element) => {
    const box = element.getBoundingClientRect();
    return { left: box.left - frame.left + levels.scrollLeft, right: box.right - frame.left + levels.scrollLeft, y: box.top - frame.top + box.height / 2 };
  };
  lines.setAttribute("width", levels.scrollWidth);
  lines.setAttribute("height", levels.scrollHeight);
  lines.replaceChildren(...edges.map(([start, end]) => {
    const [from, to] = [at(start.element), at(end.element)];
    const bend = (to.left - from.right) / 2;
    return h("path", { class: start === chosen || end === chosen ? "on" : null,
      d: `M${from.right} ${from.y}C${from.right + bend} ${from.y} ${to.left - bend} ${to.y} ${to.left} ${to.y}` });
  }));
}

function describe(node, detail) {
  const words = (pairs) => pairs.map(([stem, count]) => (count > 1 ? `${stem} ×${count}` : stem)).join(", ") || "–";
  const rows = [
    ["ISH, nearest heading", words(node.ish)], ["SH, headings above", words(node.sh)], ["MH, main heading", words(node.mh)],
    ["DC, text around the links", words(node.dc)], ["DIC, distance to a target", `${node.distance}`],
    ["matched links followed", `${number(node.fetches)}${node.hit_rate === null ? "" : `, ${percent(node.hit_rate)} relevant`}`],
  ];
  detail.replaceChildren(h("h2", {}, node.title || "A node", node.dead ? " (dead)" : ""),
    h("p", { class: "url" }, `node ${node.number} on `, outside(node.source)),
    h("table", {}, h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))),
      h("tr", {}, h("th", { scope: "row" }, "destinations"), h("td", {}, node.destinations.map((url) => h("div", { class: "url" }, outside(url))))))));
}

function journal(graph, name, fill) {
  const undo = (entry) => (token() && entry.holds && !entry.by_hand
    ? h("button", { type: "button", class: "small", "aria-label": `Undo change ${entry.change}`, onclick: async (event) => {
      event.currentTarget.disabled = true;
      await order(name, "undo", [String(entry.change), String(entry.node)]);
      await fill();
    } }, "Undo")
    : entry.by_hand ? h("span", { class: "badge" }, "by hand") : entry.holds ? "" : h("span", { class: "soft small" }, "changed since"));
  return h("section", { class: "card" }, h("h2", {}, "What the watchdog changed"),
    h("div", { class: "scroll journal", tabindex: 0, role: "region", "aria-label": "Journal" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { class: "n" }, "change"), h("th", { class: "n" }, "at page"), ["what", "node", "because", ""].map((text) => (text ? h("th", {}, text) : h("td", {}))))),
      h("tbody", {}, graph.journal.slice(0, 100).map((entry) => h("tr", {},
        h("td", { class: "n" }, number(entry.change)), h("td", { class: "n" }, number(entry.page)), h("td", {}, entry.action),
        h("td", {}, String(entry.node)), h("td", { class: "because" }, entry.reason), h("td", {}, undo(entry))))))));
}
