import { get, h, notice, number, percent, post, toast, token, when } from "./dom.js";
import { follow, refill } from "./live.js";

const EVERY_MS = 2000;

export async function crawls(place) {
  const list = h("div", {});
  place.append(h("h1", {}, "Crawls"), list, starter());
  let before = "";
  const fill = async () => {
    const jobs = await get("/api/jobs");
    const now = JSON.stringify(jobs.map((job) => ({ ...job, workers: [] })));
    if (now !== before) refill(list, jobs.length ? table(jobs) : notice("No crawl yet. Start one below, or with scrapy crawl treasure."));
    before = now;
  };
  await fill();
  return follow(place, fill, EVERY_MS);
}

const state = (job) => (job.paused ? ["paused", ""] : job.running ? ["running", "live"]
  : job.stopped ? [job.stop_reason.replaceAll("_", " ") || "ended", ""] : ["interrupted", "bad"]);

export const badge = (job) => { const [text, kind] = state(job); return h("span", { class: `badge ${kind}` }, text); };

function table(jobs) {
  return h("div", { class: "card scroll", tabindex: 0, role: "region", "aria-label": "All crawls" }, h("table", {},
    h("thead", {}, h("tr", {}, ["crawl", "topic", "state"].map((name) => h("th", {}, name)),
      ["pages", "on topic", "harvest", "waiting"].map((name) => h("th", { class: "n" }, name)), h("th", {}, "started"))),
    h("tbody", {}, jobs.map((job) => h("tr", {},
      h("td", {}, h("a", { href: `/crawls/${encodeURIComponent(job.job)}`, "data-link": true }, job.job)),
      h("td", {}, job.topic), h("td", {}, badge(job)),
      h("td", { class: "n" }, number(job.pages)), h("td", { class: "n" }, number(job.on_topic)),
      h("td", { class: "n" }, job.pages ? percent(job.on_topic / job.pages) : "–"),
      h("td", { class: "n" }, number(job.queued)), h("td", {}, when(job.started)))))));
}

const field = (label, input) => h("label", { class: "field small" }, h("span", { class: "soft" }, label), input);

function starter() {
  if (!token()) return h("p", { class: "soft small" }, "Open the page with the address that `treasure ui` printed to start and steer crawls here.");
  const trouble = h("div", { role: "alert" });
  const form = h("form", { onsubmit: async (event) => {
    event.preventDefault();
    trouble.replaceChildren();
    const data = Object.fromEntries(new FormData(form));
    try {
      const started = await post("/api/jobs", { ...data, max_pages: Number(data.max_pages) });
      toast(`Started ${started.job}.`);
      document.dispatchEvent(new CustomEvent("treasure:go", { detail: `/crawls/${encodeURIComponent(started.job)}` }));
    } catch (error) { trouble.replaceChildren(notice(error.message, true)); }
  } },
  h("div", { class: "grid" },
    field("Topic: Dewey number, name or file", h("input", { name: "topic", required: true, placeholder: "astronomy" })),
    field("Pages at most", h("input", { name: "max_pages", type: "number", min: 1, value: 1000 })),
    field("Name (optional)", h("input", { name: "job", pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*" })),
    field("Contact for webmasters", h("input", { name: "contact", placeholder: "https://example.org/crawler" }))),
  field("Seeds, one address a line", h("textarea", { name: "seeds", required: true })),
  trouble, h("button", { class: "primary" }, "Start"));
  return h("details", { class: "card" }, h("summary", {}, "Start a crawl"), form);
}
