// The list of crawls.
import { apart, byId, call, fixed, make, number } from "./common.js";

function row(crawl) {
  const numbers = [["found", number(crawl.found)], ["pages", number(crawl.pages)], ["harvest", fixed(crawl.harvest, 3)], ["waiting", number(crawl.waiting)]];
  return make("tr", {},
    make("td", { class: "main" }, make("a", { href: `/crawls/${encodeURIComponent(crawl.id)}` }, apart(crawl.name))),
    make("td", { "data-label": "state" }, crawl.problem || crawl.state_in_words || "not read yet"),
    ...numbers.map(([label, text]) => make("td", { class: "n", "data-label": label }, text)));
}
async function refresh() {
  try {
    const { crawls, problem } = await call("/api/crawls");
    const focused = document.activeElement?.getAttribute("href");
    byId("crawls").replaceChildren(...crawls.map(row));
    byId("none").hidden = crawls.length > 0;
    byId("crawls").closest("table").hidden = !crawls.length;
    if (focused) document.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    byId("problem").textContent = problem;
  } catch (error) {
    byId("problem").textContent = error.message;
  }
  byId("problem").hidden = !byId("problem").textContent;
  setTimeout(refresh, document.hidden ? 20000 : 3000);
}
refresh();
