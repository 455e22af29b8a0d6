// The router: each view is a function of the address that fills <main> and may return a clean-up.
import { h, notice, token } from "./dom.js";
import { compare } from "./compare.js";
import { crawl } from "./crawl.js";
import { crawls } from "./crawls.js";
import { explain } from "./explain.js";
import { page } from "./page.js";
import { search } from "./search.js";
import { tgraph } from "./tgraph.js";

const ROUTES = [
  [/^\/$/, search, "Search"],
  [/^\/page\/(\d+)$/, page, "Page"],
  [/^\/crawls$/, crawls, "Crawls"],
  [/^\/crawls\/([^/]+)$/, crawl, "Crawl"],
  [/^\/crawls\/([^/]+)\/tgraph$/, tgraph, "T-Graph"],
  [/^\/crawls\/([^/]+)\/explain$/, explain, "Why this link?"],
  [/^\/compare$/, compare, "Compare"],
];
const main = document.getElementById("main");
let leave = null;
let visit = 0;

async function show() {
  const mine = ++visit;
  if (leave) leave();
  leave = null;
  for (const link of document.querySelectorAll(".top nav a")) {
    const path = new URL(link.href).pathname;
    const here = path === "/" ? location.pathname === "/" : location.pathname.startsWith(path);
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const place = document.createElement("div");
  main.replaceChildren(place);
  for (const [pattern, view, title] of ROUTES) {
    const found = pattern.exec(location.pathname);
    if (!found) continue;
    document.title = `${title} · Treasure`;
    try {
      const cleanUp = await view(place, ...found.slice(1).map(decodeURIComponent));
      if (mine === visit) leave = cleanUp;
      else if (cleanUp) cleanUp();
    } catch (error) {
      place.replaceChildren(notice(error.message, true), h("p", {}, h("a", { href: "/", "data-link": true }, "Search")));
    }
    return;
  }
  place.replaceChildren(h("h1", {}, "Nothing here"), h("p", {}, h("a", { href: "/", "data-link": true }, "Search the repository")));
}

export function go(path) {
  history.pushState(null, "", path);
  main.focus(); // a view may put it elsewhere
  show();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
document.addEventListener("treasure:go", (event) => go(event.detail));
window.addEventListener("popstate", show);

const theme = document.getElementById("theme");
const stored = localStorage.getItem("treasure-theme");
if (stored) document.documentElement.dataset.theme = stored;
theme.addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("treasure-theme", next);
});

document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === "/" && !typing) {
    const box = document.querySelector("input[type=search]");
    event.preventDefault();
    if (box) box.focus();
    else go("/");
  }
  if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !/^(TEXTAREA|SELECT)$/.test(event.target.tagName)) {
    const titles = [...document.querySelectorAll("a.title")];
    if (!titles.length) return;
    const at = titles.indexOf(document.activeElement);
    const next = event.key === "ArrowDown" ? Math.min(at + 1, titles.length - 1) : at - 1;
    event.preventDefault();
    (titles[next] || document.querySelector("input[type=search]")).focus();
  }
});

token();
show();
