import { bars, contributions, galaxy } from "./charts.js";
import { add, get, h, number, outside, percent, size, when } from "./dom.js";

export async function page(place, id) {
  const found = await get(`/api/pages/${id}`);
  document.title = `${found.title || found.url} · Treasure`;
  add(place,
    h("h1", {}, found.title || "(no title)"),
    h("p", { class: "url" }, outside(found.final_url || found.url)),
    h("p", { class: "row" }, verdict(found), found.numbers.slice(0, 4).map(([name, share]) =>
      h("span", { class: "badge" }, `${name} · ${percent(share)}`)),
    h("span", { class: "soft small" }, `${when(found.fetched_at)} · HTTP ${found.status || "–"} · ${size(found.size)} · ${found.language || "language unknown"}`)),
    found.failure ? h("p", { class: "notice bad" }, found.failure) : null,
    section("Why it is where it is", why(id, found)),
    section("How it was reached", reached(id), guessed(found), h("p", { class: "small" }, because(found.job, found.url, "Every score that its link was given"))),
    h("div", { class: "grid" },
      section("Its links", links(id, found)),
      section("Measured", h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Measurements" }, h("table", {}, h("tbody", {}, measured(found)))))),
    section("Text", h("pre", { class: "text", tabindex: 0 }, found.text || "The text of pages off topic is not kept.")),
    original(id),
  );
}

const section = (title, ...content) => h("section", { class: "card" }, h("h2", {}, title), content);

function verdict(found) {
  const kind = found.unsure ? "unsure" : found.on_topic ? "on topic" : "off topic";
  return h("span", { class: `badge ${found.on_topic ? "good" : "bad"}` },
    `${kind}${found.topic ? `: ${found.topic}` : ""} · ${percent(found.relevance)}`);
}

function later(load) {
  const box = h("div", {}, h("p", { class: "soft small" }, "…"));
  load().then((content) => box.replaceChildren(...[content].flat()), (error) =>
    box.replaceChildren(h("p", { class: "soft" }, error.message)));
  return box;
}

function why(id, found) {
  return later(async () => {
    const plot = await get(`/api/pages/${id}/galaxy`);
    if (!plot.dots.length) return h("p", { class: "soft" }, "None of its words stands in the Dewey lexicon.");
    return [
      h("p", { class: "soft small" }, found.reason || "Each dot is a word of the page at a Dewey number; large dots weigh more, dark ones are words of the link that led here, frames are the regions that won digit by digit."),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Galaxy" }, galaxy(plot)),
      h("table", {}, h("thead", {}, h("tr", {}, ["number", "about", "share", "because of"].map((name) => h("th", {}, name)))),
        h("tbody", {}, plot.numbers.map((row) => h("tr", {},
          h("td", {}, row.number), h("td", {}, row.name), h("td", { class: "n" }, percent(row.weight)),
          h("td", { class: "soft" }, row.words.map((word) => word.word).join(", ")))))),
    ];
  });
}

function reached(id) {
  return later(async () => {
    const steps = await get(`/api/pages/${id}/way`);
    return h("ol", { class: "way" }, steps.map((step, index) => h("li", { class: step.on_topic ? "good" : "" },
      step.id ? h("a", { href: `/page/${step.id}`, "data-link": true }, step.title || step.url) : outside(step.url),
      h("div", { class: "url" }, step.url),
      index && step.anchor ? h("div", { class: "small" }, "by the link “", h("mark", {}, step.anchor), "”",
        step.context ? h("span", { class: "soft" }, ` in “… ${step.context} …”`) : null) : null,
      step.id ? h("div", { class: "small soft" }, `${index ? `score ${step.score.toFixed(3)} before` : "seed"} · relevance ${percent(step.relevance)} after`) : null)));
  });
}

const because = (job, url, text) => h("a", { href: `/crawls/${encodeURIComponent(job)}/explain?${new URLSearchParams({ url })}`, "data-link": true }, text);

function guessed(found) {
  const parts = contributions((found.explanation || {}).features || {});
  return parts ? [h("p", { class: "small soft" }, "What spoke for its link, and against it, before it was fetched"), parts] : null;
}

function links(id, { job, on_topic: kept }) {
  return later(async () => {
    const all = await get(`/api/pages/${id}/links`);
    if (!all.length) return h("p", { class: "soft" }, kept ? "It has none that may be followed." : "Links are kept for pages on topic.");
    const rows = all.slice(0, 30).map((link) => [because(job, link.url, link.anchor || link.url), link.score]);
    return [h("p", { class: "soft small" }, `${number(all.length)} links, best first`), bars(rows, { format: (value) => value.toFixed(2) })];
  });
}

function measured(found) {
  const rows = {
    job: found.job, depth: found.depth, "score before": found.score.toFixed(4), ageing: found.ageing.toFixed(4),
    "drawn to explore": found.explored ? "yes" : "no", "hosts passed over": found.passed_over,
    "T-Graph node": found.graph_node || "–", "canonical address": found.canonical_url || "–",
    seconds: found.seconds.toFixed(3), ...flat({ ...found.explanation, features: null }),
  };
  return Object.entries(rows).map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, String(value))));
}

function flat(object, prefix = "") {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null).flatMap(([name, value]) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.entries(flat(value, `${prefix}${name} `))
      : [[`${prefix}${name}`, typeof value === "number" ? +value.toFixed(4) : Array.isArray(value) ? value.join(", ") : value]]));
}

function original(id) {
  const box = h("section", { class: "card" }, h("h2", {}, "As it was stored"));
  box.append(h("button", { type: "button", onclick: (event) => {
    event.target.remove();
    box.append(h("iframe", { sandbox: "", src: `/api/pages/${id}/original`, title: "The stored page, without scripts", loading: "lazy" }));
  } }, "Show it here, without scripts and pictures"));
  return box;
}
