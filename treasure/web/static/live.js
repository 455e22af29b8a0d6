// Views that stay up to date.
import { add, get, notice, post, toast } from "./dom.js";

// Calls fill again and again, never before the last call has ended; says when it fails.
export function follow(place, fill, everyMs) {
  let over = false;
  let timer = 0;
  let trouble = null;
  const again = async () => {
    try {
      await fill();
      if (trouble) trouble.remove();
      trouble = null;
    } catch (error) {
      if (!trouble) place.prepend(trouble = notice("", true));
      trouble.textContent = error.message;
    }
    if (!over) timer = setTimeout(again, document.hidden ? 10 * everyMs : everyMs);
  };
  timer = setTimeout(again, everyMs);
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

const nameOf = (element) => element.getAttribute("href") || element.getAttribute("aria-label");

// Replaces what is in a place; who was there with the keyboard stays there.
export function refill(place, ...children) {
  const focused = place.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  place.replaceChildren();
  add(place, ...children);
  if (!focused) return;
  const same = [...place.querySelectorAll("a, button, [tabindex]")].find((one) => nameOf(one) === focused);
  if (same) same.focus({ preventScroll: true });
}

const WAIT_MS = 400;
const ATTEMPTS = 15;

// Gives an order and tells what came of it; returns whether it was carried out.
export async function order(job, command, words = []) {
  const address = `/api/jobs/${encodeURIComponent(job)}`;
  try {
    const given = await post(`${address}/orders`, { command, arguments: words });
    toast(`Ordered: ${command}.`);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await new Promise((resolve) => { setTimeout(resolve, WAIT_MS); });
      const found = (await get(`${address}/events`)).orders.find((one) => one.id === given.order);
      if (found && found.applied_at) {
        toast(`${command}: ${found.answer}`);
        return !found.answer.startsWith("not done");
      }
    }
    toast(`${command}: noted. It is done when the crawl runs again.`);
  } catch (error) {
    toast(error.message);
  }
  return false;
}
