import { bars, lines } from "./charts.js";
import { add, get, h, notice, number, percent, post, size, toast, token, when } from "./dom.js";

const EVERY_MS = 2000;

export async function crawls(place) {
  const list = h("div", {});
  place.append(h("div", { class: "row between" }, h("h1", {}, "Crawls")), list, starter());
  const fill = async () => {
    const jobs = await get("/api/jobs");
    list.replaceChildren(jobs.length ? table(jobs) : notice("No crawl yet."));
  };
  await fill();
  const timer = setInterval(() => fill().catch(() => {}), EVERY_MS);
  return () => clearInterval(timer);
}

const state = (job) => (job.paused ? ["paused", ""] : job.running ? ["running", "live"]
  : job.stopped ? [job.stop_reason.replaceAll("_", " ") || "ended", ""] : ["interrupted", "bad"]);

const badge = (job) => { const [text, kind] = state(job); return h("span", { class: `badge ${kind}` }, text); };

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

const field = (label, input) => h("label", { class: "small", style: { display: "block", margin: "0 0 10px" } }, h("span", { class: "soft" }, label), h("br"), input);

function starter() {
  if (!token()) return h("p", { class: "soft small" }, "Open the page with the address that `treasure ui` printed to start and steer crawls here.");
  const form = h("form", { onsubmit: async (event) => {
    event.preventDefault();
    const data = Object.fromEntries(new FormData(form));
    try {
      const started = await post("/api/jobs", { ...data, max_pages: Number(data.max_pages) });
      toast(`Started ${started.job}.`);
      document.dispatchEvent(new CustomEvent("treasure:go", { detail: `/crawls/${encodeURIComponent(started.job)}` }));
    } catch (error) { toast(error.message); }
  } },
  h("div", { class: "grid" },
    field("Topic: Dewey number, name or file", h("input", { name: "topic", required: true, placeholder: "astronomy" })),
    field("Pages at most", h("input", { name: "max_pages", type: "number", min: 1, value: 1000 })),
    field("Name (optional)", h("input", { name: "job", pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*" })),
    field("Contact for webmasters", h("input", { name: "contact", placeholder: "https://example.org/crawler" }))),
  field("Seeds, one address a line", h("textarea", { name: "seeds", required: true })),
  h("button", { class: "primary" }, "Start"));
  return h("details", { class: "card" }, h("summary", {}, "Start a crawl"), h("br"), form);
}

export async function crawl(place, name) {
  const address = `/api/jobs/${encodeURIComponent(name)}`;
  const head = h("div", {});
  const body = h("div", {});
  const speeds = [];
  const begun = Date.now();
  add(place, head, controls(address, name), body);
  const fill = async () => {
    const [job, harvest, log] = await Promise.all([get(address), get(`${address}/harvest`), get(`${address}/events`)]);
    speeds.push([(Date.now() - begun) / 1000, job.pages_per_second]);
    if (speeds.length > 300) speeds.shift();
    head.replaceChildren(h("div", { class: "row" }, h("h1", {}, name), badge(job)),
      h("p", { class: "soft" }, `${job.topic} · started ${when(job.started)}${job.stopped ? ` · ended ${when(job.stopped)}` : ""}`));
    body.replaceChildren();
    add(body, details(job, harvest.curve, speeds, log, name));
    return job;
  };
  await fill();
  const timer = setInterval(() => fill().catch(() => {}), EVERY_MS);
  return () => clearInterval(timer);
}

function controls(address, name) {
  if (!token()) return null;
  const order = (command, argumentsOf = () => []) => async (event) => {
    event.preventDefault();
    try {
      await post(`${address}/orders`, { command, arguments: argumentsOf() });
      toast(`Ordered: ${command}.`);
    } catch (error) { toast(error.message); }
  };
  const host = h("input", { placeholder: "host, .domain or */pattern*", "aria-label": "What to block", required: true });
  const seeds = h("input", { placeholder: "https://…", "aria-label": "Seed to add", required: true });
  return h("div", { class: "card row", "aria-label": `Steer ${name}`, role: "group" },
    h("button", { type: "button", onclick: order("pause") }, "Pause"),
    h("button", { type: "button", onclick: order("resume") }, "Resume"),
    h("button", { type: "button", class: "danger", onclick: order("stop") }, "Stop"),
    h("form", { class: "row", onsubmit: order("block", () => [host.value]) }, host, h("button", {}, "Block")),
    h("form", { class: "row", onsubmit: order("seeds", () => [seeds.value]) }, seeds, h("button", {}, "Add seed")));
}

const tile = (name, value) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, name));
const card = (title, ...content) => h("section", { class: "card" }, h("h2", {}, title), content);

function details(job, curve, speeds, log, name) {
  const alerts = job.workers.flatMap((worker) => worker.alerts || []);
  const refused = {};
  for (const worker of job.workers) {
    for (const [rule, count] of Object.entries(worker.refused || {})) refused[rule] = (refused[rule] || 0) + count;
  }
  const rates = curve.slice(1).map(([pages, found]) => [pages, found / pages]);
  const hosts = job.workers.flatMap((worker) => worker.largest_hosts || []);
  return [
    h("div", { class: "tiles" }, tile("pages", number(job.pages)), tile("on topic", number(job.on_topic)),
      tile("harvest rate", job.pages ? percent(job.on_topic / job.pages) : "–"),
      tile("pages a second", job.pages_per_second.toFixed(1)), tile("waiting links", number(job.queued)),
      tile("failed", number(job.failed)), tile("received", size(job.bytes))),
    alerts.map((alert) => notice(`${alert.text} ${alert.advice || ""}`, true)),
    h("div", { class: "grid" },
      card("Harvest", lines([{ name: "on topic", points: curve }, { name: "if every page were", points: [[0, 0], [job.pages, job.pages]], dashed: true }], { label: "Pages on topic over pages fetched", xLabel: "pages fetched", yLabel: "pages on topic" })),
      card("Harvest rate", lines([{ name: "", points: rates.length ? rates : [[0, 0]] }], { label: "Share of pages on topic", xLabel: "pages fetched", yLabel: "share on topic", format: percent })),
      card("Speed", lines([{ name: "", points: speeds }], { label: "Pages a second", xLabel: "seconds on this page", yLabel: "pages a second" })),
      card("Waiting by host", bars(hosts.map(([host, count]) => [host, count]))),
      card("HTTP statuses", bars(job.statuses.map(([status, count]) => [status || "no response", count]))),
      card("Fetched by host", bars(job.hosts.map(([host, count, found]) => [host, count, `(${percent(found / count)})`]))),
      card("Refused links, by rule", bars(Object.entries(refused).sort((a, b) => b[1] - a[1]))),
      card("Pages by depth", bars(job.depths.map(([depth, count, found]) => [`depth ${depth}`, count, `(${percent(found / count)})`]))),
      card("Latest finds", finds(job.recent_finds)),
      card("Latest failures", failures(job.recent_failures)),
      card("What happened", events(log)),
      card("T-Graph", h("p", {}, h("a", { href: `/crawls/${encodeURIComponent(name)}/tgraph`, "data-link": true }, "Levels, nodes and what the watchdog changed")))),
  ];
}

const finds = (rows) => h("ul", { class: "small" }, rows.slice(0, 10).map((row) =>
  h("li", {}, h("a", { href: `/page/${row.id}`, "data-link": true }, row.title || row.url), ` ${percent(row.relevance)}`)));

const failures = (rows) => h("ul", { class: "small" }, rows.slice(0, 10).map((row) =>
  h("li", {}, h("a", { href: `/page/${row.id}`, "data-link": true }, row.url), h("span", { class: "soft" }, ` ${row.failure}`))));

function events(log) {
  const rows = [
    ...log.orders.map((order) => [order.time, `${order.command} ${Object.values(order.payload).flat().join(" ")} (${order.author})${order.answer ? `: ${order.answer}` : ""}`]),
    ...log.events.map((event) => [event.time, event.text]),
  ].sort((a, b) => b[0] - a[0]);
  if (!rows.length) return h("p", { class: "soft small" }, "Nobody steered it.");
  return h("ul", { class: "small" }, rows.slice(0, 15).map(([time, text]) => h("li", {}, h("span", { class: "soft" }, `${when(time)} `), text)));
}
