// Small helpers: elements without innerHTML (pages' words are never markup), numbers, requests.

export function h(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "text", "circle", "rect", "g", "title", "polyline"].includes(tag)
    && attributes && attributes.svg !== false;
  const element = svg
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false || name === "svg") continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Like append, but what is not there is left out.
export function add(place, ...children) {
  place.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return place;
}

export const number = (value) => (value ?? 0).toLocaleString("en");
export const percent = (value) => `${Math.round((value ?? 0) * 100)} %`;
export const when = (seconds) => (seconds ? new Date(seconds * 1000).toLocaleString() : "–");

export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) { bytes /= 1000; unit += 1; }
  return `${bytes < 10 && unit ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}

// Only web addresses become links; anything else a page invented stays text.
export function outside(url, text = url) {
  if (!/^https?:\/\//i.test(url)) return h("span", {}, text);
  return h("a", { href: url, rel: "noopener noreferrer nofollow", target: "_blank" }, text);
}

export const marked = (pieces) => pieces.map(([text, hit]) => (hit ? h("mark", {}, text) : text));

const TOKEN = "treasure-token";

export function token() {
  const found = /[#&]token=([\w-]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(TOKEN, found[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(TOKEN) || "";
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer. Is `treasure ui` still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.detail || `The server answered with status ${response.status}.`);
  return answer;
}

export const get = (path) => request(path, { headers: { Accept: "application/json" } });

export const post = (path, body) => request(path, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-Treasure-Token": token() },
  body: JSON.stringify(body),
});

let timer = 0;
export function toast(text) {
  const box = document.getElementById("toast");
  box.textContent = text;
  box.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => box.classList.remove("shown"), 4000);
}

export const notice = (text, bad = false) => h("p", { class: bad ? "notice bad" : "notice" }, text);
