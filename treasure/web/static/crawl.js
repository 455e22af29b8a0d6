// One crawl: figures and charts that follow it, and what it can be told.
import { bars, histogram, lines } from "./charts.js";
import { badge } from "./crawls.js";
import { add, get, h, notice, number, percent, size, token, when } from "./dom.js";
import { follow, order, refill } from "./live.js";

const EVERY_MS = 2000;
const GRAPH_EVERY = 5;
const START_MS = 700;

export async function crawl(place, name) {
  const address = `/api/jobs/${encodeURIComponent(name)}`;
  await started(place, name, address);
  const head = h("div", {});
  const body = h("div", {});
  add(place, head, controls(name), body);
  let before = "";
  let graph = null;
  let rounds = 0;
  const fill = async () => {
    const [job, harvest, log] = await Promise.all([get(address), get(`${address}/harvest`), get(`${address}/events`)]);
    if (rounds % GRAPH_EVERY === 0) graph = await get(`${address}/tgraph`);
    rounds += 1;
    const now = JSON.stringify([job, harvest, log, graph]);
    if (now === before) return;
    before = now;
    head.replaceChildren(h("div", { class: "row" }, h("h1", {}, name), badge(job)),
      h("p", { class: "soft" }, `${job.topic} · started ${when(job.started)}${job.stopped ? ` · ended ${when(job.stopped)}` : ""}`));
    refill(body, details(job, harvest, log, graph, name));
  };
  await fill();
  return follow(place, fill, EVERY_MS);
}

// A crawl that was just started takes a few seconds until it is in the repository.
async function started(place, name, address) {
  const waiting = notice(`${name} is starting …`);
  for (;;) {
    try {
      await get(address);
      waiting.remove();
      return;
    } catch (error) {
      const start = await get(`/api/starts/${encodeURIComponent(name)}`).catch(() => null);
      if (!start) throw error;
      if (start.state !== "running") throw new Error(`${name} could not start. ${start.told} Its log is ${start.log}`);
      if (!place.isConnected) throw error;
      if (!waiting.isConnected) place.append(waiting);
    }
    await new Promise((resolve) => { setTimeout(resolve, START_MS); });
  }
}

function controls(name) {
  if (!token()) return null;
  const button = (command, kind) => h("button", { type: "button", class: kind, onclick: () => order(name, command.toLowerCase()) }, command);
  const form = (command, text, input) => h("form", { class: "row", onsubmit: async (event) => {
    event.preventDefault();
    if (await order(name, command, [input.value])) input.value = "";
  } }, input, h("button", {}, text));
  const text = (placeholder, label) => h("input", { placeholder, "aria-label": label, required: true });
  return h("div", { class: "card row", "aria-label": `Steer ${name}`, role: "group" },
    button("Pause"), button("Resume"), button("Stop", "danger"),
    form("block", "Block", text("host, .domain or */pattern*", "What to block")),
    form("seeds", "Add seed", text("https://…", "Seed to add")));
}

const tile = (name, value) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, name));
const card = (title, ...content) => h("section", { class: "card" }, h("h2", {}, title), content);

function added(workers, name) {
  const sums = {};
  for (const worker of workers) {
    for (const [key, count] of Object.entries(worker[name] || {})) sums[key] = (sums[key] || 0) + count;
  }
  return Object.entries(sums).sort((a, b) => b[1] - a[1]);
}

function details(job, { curve, recall }, log, graph, name) {
  const latest = job.workers.reduce((best, worker) => (worker.at > (best ? best.at : 0) ? worker : best), null) || {};
  const alerts = job.running ? job.workers.flatMap((worker) => worker.alerts || []) : [];
  const rates = curve.slice(1).map(([pages, found]) => [pages, found / pages]);
  const shares = { label: "Share of pages on topic", xLabel: "pages fetched", yLabel: "share", format: percent, top: 1 };
  const quality = [{ name: "harvest rate", points: rates.length ? rates : [[0, 0]] }];
  if (recall) quality.push({ name: `recall of ${number(recall.targets)} targets`, points: recall.curve });
  return [
    h("div", { class: "tiles" }, tile("pages", number(job.pages)), tile("on topic", number(job.on_topic)),
      tile("harvest rate", job.pages ? percent(job.on_topic / job.pages) : "–"),
      recall ? tile("recall", percent(recall.recall)) : null,
      tile("pages/s", job.pages_per_second.toFixed(1)), tile("waiting links", number(job.queued)),
      tile("failed", number(job.failed)), tile("received", size(job.bytes))),
    alerts.map((alert) => notice(`${alert.text} ${alert.advice || ""}`, true)),
    job.running && latest.next_link_seconds > 10 ? notice(`It waits: no host may be asked again for ${number(Math.round(latest.next_link_seconds))} s.`) : null,
    latest.because && job.stopped ? notice(`It ended: ${latest.because}`) : null,
    h("div", { class: "grid" },
      card("Harvest", lines([{ name: "on topic", points: curve }, { name: "if every page were", points: [[0, 0], [job.pages, job.pages]], dashed: true }], { label: "Pages on topic over pages fetched", xLabel: "pages fetched", yLabel: "pages on topic" })),
      card(recall ? "Harvest rate and recall" : "Harvest rate", lines(quality, shares)),
      card("Speed", lines([{ name: "", points: job.pace.length ? job.pace : [[0, 0]] }], { label: "Pages a second", xLabel: "seconds since the first page", yLabel: "pages a second" })),
      card("Waiting by score", histogram(latest.scores, "Waiting links by their score")),
      card("Waiting by host", bars(latest.largest_hosts || [], { empty: "Nothing waits." })),
      card("T-Graph levels", levels(graph, name)),
      card("HTTP statuses", bars(job.statuses.map(([status, count]) => [status || "no response", count]))),
      card("Fetched by host", bars(job.hosts.slice(0, 10).map(([host, count, found]) => [host, count, `(${percent(found / count)})`]))),
      card("Refused links, by rule", bars(added(job.workers, "refused"), { empty: "None." }), why(name)),
      card("Pages by depth", bars(job.depths.map(([depth, count, found]) => [`depth ${depth}`, count, `(${percent(found / count)})`]))),
      card("Latest finds", finds(job.recent_finds)),
      card("Latest failures", failures(job.recent_failures)),
      card("What happened", events(log))),
  ];
}

function levels(graph, name) {
  const address = `/crawls/${encodeURIComponent(name)}/tgraph`;
  const link = h("p", {}, h("a", { href: address, "data-link": true }, "Nodes, ways, and what the watchdog changed"));
  const used = (graph ? graph.levels : []).filter((level) => level.nodes);
  if (!used.length) return [h("p", { class: "soft small" }, "The graph is empty so far."), link];
  return [bars(used.map((level) => [`level ${level.level}, ${number(level.nodes)} nodes`, level.hit_rate || 0, `of ${number(level.fetches)}`]), { format: percent, most: 1 }), link];
}

const why = (name) => h("p", { class: "small" },
  h("a", { href: `/crawls/${encodeURIComponent(name)}/explain`, "data-link": true }, "Why was a link followed or refused?"));

const pageLink = (row) => h("a", { href: `/page/${row.id}`, "data-link": true }, row.title || row.url);

function finds(rows) {
  if (!rows.length) return h("p", { class: "soft small" }, "Nothing yet.");
  return h("ul", { class: "small" }, rows.slice(0, 10).map((row) => h("li", {}, pageLink(row), ` ${percent(row.relevance)}`)));
}

function failures(rows) {
  if (!rows.length) return h("p", { class: "soft small" }, "None.");
  return h("ul", { class: "small" }, rows.slice(0, 10).map((row) => h("li", {}, pageLink({ ...row, title: row.url }), h("span", { class: "soft" }, ` ${row.failure}`))));
}

function events(log) {
  const told = (order) => `${order.command} ${Object.values(order.payload).flat().join(" ")} (${order.author}): ${order.answer || "not carried out yet"}`;
  const rows = [
    ...log.orders.map((one) => [one.time, told(one)]),
    ...log.events.filter((event) => event.kind !== "order").map((event) => [event.time, event.text]),
  ].sort((a, b) => b[0] - a[0]);
  if (!rows.length) return h("p", { class: "soft small" }, "Nobody steered it.");
  return h("ul", { class: "small" }, rows.slice(0, 15).map(([time, text]) => h("li", {}, h("span", { class: "soft" }, `${when(time)} `), text)));
}
