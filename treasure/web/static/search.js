import { get, h, marked, notice, number, percent, when } from "./dom.js";

const HINT = "Words, \"phrases\", -without, title:word, site:host, topic:name, number:52";

export async function search(place) {
  const asked = new URLSearchParams(location.search);
  const query = asked.get("q") || "";
  const job = asked.get("job") || "";
  const page = Number(asked.get("page") || 1);
  const box = h("input", { type: "search", name: "q", value: query, "aria-label": "Search the stored pages", placeholder: "Search the stored pages", autocomplete: "off", maxlength: 2000 });
  const filter = h("select", { name: "job", "aria-label": "Crawl" },
    h("option", { value: "" }, "all crawls"), job ? h("option", { value: job, selected: true }, job) : null);
  const form = h("form", { class: "search", role: "search", action: "/", onsubmit: (event) => {
    event.preventDefault();
    const wanted = new URLSearchParams({ q: box.value });
    if (filter.value) wanted.set("job", filter.value);
    document.dispatchEvent(new CustomEvent("treasure:go", { detail: `/?${wanted}` }));
  } }, box, filter, h("button", { class: "primary" }, "Search"));
  const answer = h("div", {});
  place.append(h("h1", {}, "Search"), form, h("p", { class: "soft small" }, HINT), answer);
  // Who types at once finds the box; the rest comes when it is there.
  if (!query) box.focus();
  const known = get("/api/jobs").then((jobs) => {
    filter.append(...jobs.filter((one) => one.job !== job).map((one) => h("option", { value: one.job }, one.job)));
    return jobs;
  });
  if (!query) {
    answer.append(overview(await known));
    return null;
  }
  known.catch(() => {}); // the search itself tells what is wrong
  const wanted = new URLSearchParams({ q: query, page: String(page) });
  if (job) wanted.set("job", job);
  try {
    const found = await get(`/api/search?${wanted}`);
    answer.replaceChildren(...results(found, asked));
  } catch (error) {
    answer.replaceChildren(notice(error.message, true));
  }
  return null;
}

function overview(jobs) {
  if (!jobs.length) {
    return notice("Nothing is stored yet. Start a crawl: scrapy crawl treasure -a topic=astronomy -a seeds=seeds.txt");
  }
  const kept = jobs.reduce((sum, job) => sum + (job.on_topic || 0), 0);
  return h("p", { class: "soft" }, `${number(kept)} pages on topic from ${number(jobs.length)} crawl${jobs.length === 1 ? "" : "s"}.`);
}

function results(found, asked) {
  if (!found.hits.length) return [notice("No page fits. Try fewer words, or other ones.")];
  const last = Math.ceil(found.total / found.size);
  const turn = (page, text) => {
    const next = new URLSearchParams(asked);
    next.set("page", page);
    return h("a", { href: `/?${next}`, "data-link": true, class: "badge" }, text);
  };
  return [
    h("p", { class: "soft small", "aria-live": "polite" },
      `${number(found.total)} page${found.total === 1 ? "" : "s"}`,
      found.waiting ? ` · ${number(found.waiting)} more wait to be indexed` : ""),
    h("ol", { class: "hits" }, found.hits.map(hit)),
    h("p", { class: "row" }, found.page > 1 ? turn(found.page - 1, "← previous") : null,
      last > 1 ? h("span", { class: "soft small" }, `page ${found.page} of ${last}`) : null,
      found.page < last && found.page < 100 ? turn(found.page + 1, "next →") : null),
  ];
}

const siteOf = (url) => { try { return new URL(url).hostname; } catch { return url; } };

// The same search, only among pages that fit the filter as well.
function narrower(filter, text, kind) {
  const asked = new URLSearchParams(location.search);
  const query = asked.get("q") || "";
  if (query.includes(filter)) return h("span", { class: kind }, text);
  asked.set("q", `${query} ${filter}`);
  asked.delete("page");
  return h("a", { class: kind, href: `/?${asked}`, "data-link": true, title: `Only ${filter}` }, text);
}

function hit(one) {
  const title = marked(one.title);
  return h("li", {},
    h("a", { class: "title", href: `/page/${one.page_id}`, "data-link": true }, title.length ? title : one.url),
    h("div", { class: "url" }, one.url),
    h("p", {}, marked(one.snippet)),
    h("p", { class: "row small soft" },
      h("span", { class: "meter", role: "img", "aria-label": `relevance ${percent(one.relevance)}` }, h("i", { style: { width: percent(one.relevance).replace(" ", "") } })),
      h("span", {}, `relevance ${percent(one.relevance)}`),
      one.numbers.slice(0, 3).map(([name]) => narrower(`number:${name}`, name, "badge")),
      narrower(`site:${siteOf(one.url)}`, siteOf(one.url), "badge"),
      h("span", {}, one.job), h("span", {}, when(one.fetched_at)),
      one.duplicates ? h("span", {}, `${one.duplicates} duplicate${one.duplicates > 1 ? "s" : ""} not shown`) : null));
}
