import { lines } from "./charts.js";
import { get, h, notice } from "./dom.js";

export async function compare(place) {
  const jobs = await get("/api/jobs");
  place.append(h("h1", {}, "Compare"));
  if (!jobs.length) {
    place.append(notice("No crawl yet."));
    return;
  }
  const asked = new URLSearchParams(location.search).getAll("job");
  const chosen = new Set(asked.length ? asked : jobs.slice(0, 2).map((job) => job.job));
  const picture = h("section", { class: "card" });
  const boxes = jobs.slice(0, 30).map((job) => h("label", { class: "badge" },
    h("input", { type: "checkbox", value: job.job, checked: chosen.has(job.job), onchange: (event) => {
      if (event.target.checked) chosen.add(job.job);
      else chosen.delete(job.job);
      draw();
    } }), ` ${job.job}`));
  const draw = () => redraw().catch((error) => picture.replaceChildren(notice(error.message, true)));
  const redraw = async () => {
    history.replaceState(null, "", `/compare?${new URLSearchParams([...chosen].map((job) => ["job", job]))}`);
    const curves = await Promise.all([...chosen].map((job) => get(`/api/jobs/${encodeURIComponent(job)}/harvest`)));
    const series = curves.map((one) => ({ name: one.job, points: one.curve }));
    picture.replaceChildren(h("h2", {}, "Harvest"), series.length
      ? lines(series, { label: "Pages on topic over pages fetched", xLabel: "pages fetched", yLabel: "pages on topic" })
      : notice("Choose at least one crawl."));
  };
  place.append(h("div", { class: "row", style: { margin: "0 0 14px" } }, boxes), picture);
  await draw();
}
