// Why a link was followed, waits or was refused: every score it was ever given.
import { contributions } from "./charts.js";
import { get, h, notice, outside, percent } from "./dom.js";

export async function explain(place, name) {
  const address = new URLSearchParams(location.search).get("url") || "";
  const box = h("input", { type: "search", name: "url", value: address, required: true, placeholder: "https://…", "aria-label": "Address of the link", maxlength: 8000 });
  const form = h("form", { class: "search", onsubmit: (event) => {
    event.preventDefault();
    const wanted = new URLSearchParams({ url: box.value });
    document.dispatchEvent(new CustomEvent("treasure:go", { detail: `/crawls/${encodeURIComponent(name)}/explain?${wanted}` }));
  } }, box, h("button", { class: "primary" }, "Explain"));
  place.append(h("h1", {}, "Why this link?"), h("p", { class: "soft" }, "in ",
    h("a", { href: `/crawls/${encodeURIComponent(name)}`, "data-link": true }, name),
    " · every score it was given, and what became of it"), form);
  if (!address) {
    box.focus();
    return;
  }
  const told = await get(`/api/jobs/${encodeURIComponent(name)}/explain?${new URLSearchParams({ url: address })}`).catch((error) => error);
  if (told instanceof Error) {
    place.append(notice(told.message, true));
    return;
  }
  place.append(h("p", { class: "url" }, outside(told.url)));
  if (told.refused_by) place.append(notice(`Refused by the rule “${told.refused_by}”: it is never queued.`, true));
  if (told.page) place.append(notice(fetched(told.page)));
  if (!told.events.length && !told.page && !told.refused_by) {
    place.append(notice("No page of this crawl links there, as far as it has come."));
  }
  place.append(h("ol", { class: "way" }, told.events.map(step)));
}

function fetched(page) {
  if (page.failure) return `It could not be fetched: ${page.failure}`;
  if (!page.status || page.status >= 300) return `It was fetched: HTTP status ${page.status}.`;
  return `It was fetched and is ${page.on_topic ? "on" : "off"} topic: relevance ${percent(page.relevance)}${page.reason ? ` (${page.reason})` : ""}.`;
}

const score = (value) => h("b", {}, value.toFixed(4));

function step(event) {
  const features = event.features || (event.explanation || {}).features || {};
  return h("li", { class: event.kind === "taken" ? "good" : "" },
    h("div", {}, said(event)),
    h("div", { class: "small soft" }, new Date(event.time * 1000).toLocaleString()),
    contributions(features));
}

function said(event) {
  if (event.kind === "scored") {
    return ["Scored ", score(event.score), " by ", outside(event.page), ` (relevance ${percent(event.relevance)})`,
      event.anchor ? [" through “", h("mark", {}, event.anchor), "”"] : " without words"];
  }
  if (event.kind === "changed") return ["Changed to ", score(event.score), " after ", outside(event.page), " was read"];
  if (event.kind === "refused") return ["Refused on ", outside(event.page), `: ${event.rule || "by a rule of admission"}`];
  if (event.kind === "explained") return "Fetched; these features spoke for and against it";
  const passed = event.passed_over ? `; ${event.passed_over} better hosts had to wait` : "";
  return ["Taken with ", score(event.score), ` + ${event.ageing.toFixed(4)} for waiting: ${event.explored ? "drawn at random, to explore" : "it was its turn"}${passed}`];
}
