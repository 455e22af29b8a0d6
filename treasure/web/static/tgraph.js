import { get, h, notice, number, outside, percent } from "./dom.js";

export async function tgraph(place, name) {
  const graph = await get(`/api/jobs/${encodeURIComponent(name)}/tgraph`);
  place.append(h("h1", {}, `T-Graph of ${name}`),
    h("p", { class: "soft" }, h("a", { href: `/crawls/${encodeURIComponent(name)}`, "data-link": true }, name),
      ` · ${graph.topic} · ${number(graph.nodes)} nodes · ${number(graph.changes)} changes`));
  if (!graph.nodes) {
    place.append(notice("The graph is empty: no way to a page on topic has been seen yet, or the crawl has not saved it."));
    return;
  }
  const detail = h("section", { class: "card", "aria-live": "polite" }, h("h2", {}, "A node"), h("p", { class: "soft" }, "Choose a node to see its five components."));
  const columns = h("div", { class: "levels card", tabindex: 0, role: "region", "aria-label": "Levels" }, graph.levels.map((level) => column(level, detail)));
  place.append(columns, detail, journal(graph.journal));
}

function column(level, detail) {
  return h("div", { class: "level" },
    h("h3", {}, `Level ${level.level}`),
    h("p", { class: "soft small" }, `${number(level.nodes)} nodes${level.dead ? `, ${level.dead} dead` : ""} · hit rate ${level.hit_rate === null ? "–" : percent(level.hit_rate)} of ${number(level.fetches)}`),
    level.most_used.map((node) => h("button", { type: "button", class: node.dead ? "node dead" : "node", "aria-pressed": "false", onclick: (event) => {
      document.querySelectorAll(".node").forEach((other) => other.setAttribute("aria-pressed", "false"));
      event.currentTarget.setAttribute("aria-pressed", "true");
      show(node, detail);
    } }, node.title || "(no words)", h("span", { class: "soft small" }, ` ${node.hit_rate === null ? "" : percent(node.hit_rate)}`))));
}

function show(node, detail) {
  const words = (pairs) => pairs.map(([stem, count]) => (count > 1 ? `${stem} ×${count}` : stem)).join(", ") || "–";
  const rows = [
    ["ISH, nearest heading", words(node.ish)], ["SH, headings above", words(node.sh)], ["MH, main heading", words(node.mh)],
    ["DC, text around the links", words(node.dc)], ["DIC, distance to a target", `${node.distance}`],
    ["matched links followed", `${number(node.fetches)}${node.hit_rate === null ? "" : `, ${percent(node.hit_rate)} relevant`}`],
  ];
  detail.replaceChildren(h("h2", {}, node.title || "A node", node.dead ? " (dead)" : ""),
    h("p", { class: "url" }, "on ", outside(node.source)),
    h("table", {}, h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))),
      h("tr", {}, h("th", { scope: "row" }, "destinations"), h("td", {}, node.destinations.map((url) => h("div", { class: "url" }, outside(url))))))));
}

function journal(entries) {
  return h("section", { class: "card" }, h("h2", {}, "What the watchdog changed"),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Journal" }, h("table", {},
      h("thead", {}, h("tr", {}, ["at page", "change", "node", "because"].map((name) => h("th", {}, name)))),
      h("tbody", {}, entries.slice(0, 100).map((entry) => h("tr", {},
        h("td", { class: "n" }, number(entry.page)), h("td", {}, entry.action), h("td", { class: "n" }, String(entry.node)), h("td", {}, entry.reason)))))));
}
