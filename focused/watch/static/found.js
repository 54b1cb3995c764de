// The table of all pages: search, sort, filter, more, downloads.
import { apart, attempt, byId, call, fixed, link, make, number } from "./common.js";

const table = byId("pages"), body = table.tBodies[0], wish = byId("wish"), step = 25;
const heads = { relevance: "R", title: "page", class: "class", order: "no." };
let base, buttonsFor, sort = "-relevance", shown = 0, total = 0, newest = 0, asked = 0, wait;

function query(extra = {}) {
  const given = new URLSearchParams(new FormData(wish));
  for (const [name, value] of Object.entries({ sort, ...extra })) given.set(name, value);
  return given;
}
function row(page) {
  return make("tr", { "data-url": page.url, "data-order": page.order },
    make("td", { class: "n", "data-label": "R" }, fixed(page.relevance, 2)),
    make("td", { class: "main" }, link(page.url, page.title || page.url), make("br"), make("span", { class: "u" }, apart(page.url))),
    make("td", { "data-label": "class" }, apart(page.class)),
    make("td", { class: "n", "data-label": "no." }, number(page.order)),
    make("td", {}, buttonsFor(page)));
}
async function load(first, most) {
  const mine = ++asked;
  const found = await call(`${base}/pages?${query({ offset: first, limit: most })}`);
  if (mine !== asked) return;
  const rows = found.pages.map(row);
  if (first) body.append(...rows); else body.replaceChildren(...rows);
  shown = first + rows.length;
  total = found.total;
  byId("count").textContent = `${number(shown)} of ${number(total)} shown, of ${number(found.of)} pages`;
  byId("more").hidden = shown >= total;
  for (const download of wish.querySelectorAll("[data-kind]")) download.href = `${base}/pages.${download.dataset.kind}?${query()}`;
  if (first) rows[0]?.querySelector("a, button")?.focus();
}
const again = () => attempt(() => load(0, Math.min(Math.max(shown, step), 500)));

// New pages are not put under somebody's fingers.
export function pagesChanged(count) {
  if (count === newest || body.contains(document.activeElement) || shown > step) return;
  newest = count;
  clearTimeout(wait);
  wait = setTimeout(again, 700);
}
export function begin(address, buttons) {
  base = address;
  buttonsFor = buttons;
  for (const head of table.tHead.querySelectorAll("[data-sort]")) {
    const button = make("button", { type: "button" }, heads[head.dataset.sort]);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const key = head.dataset.sort, isNumber = head.classList.contains("n");
      // Numbers begin with the largest, words with A.
      const down = sort === `-${key}` ? false : sort === key ? true : isNumber;
      sort = (down ? "-" : "") + key;
      for (const other of table.tHead.querySelectorAll("[data-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      shown = 0;
      again();
    });
  }
  wish.addEventListener("input", () => { shown = 0; clearTimeout(wait); wait = setTimeout(again, 200); });
  wish.addEventListener("submit", event => event.preventDefault());
  byId("more").addEventListener("click", event => attempt(() => load(shown, step), event.currentTarget));
  again();
}
