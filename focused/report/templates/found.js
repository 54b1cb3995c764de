// Sorts and searches the list of found pages, and shows it in parts; without scripts it is a plain table.
"use strict";
const table = document.getElementById("found"), body = table.tBodies[0];
const search = document.getElementById("search"), count = document.getElementById("count");
const more = document.getElementById("more"), step = 200;
const rows = Array.from(body.rows, row => ({ row, text: row.textContent.toLowerCase() }));
let shown = step, matching = rows;

function show() {
  body.replaceChildren(...matching.slice(0, shown).map(entry => entry.row));
  more.hidden = matching.length <= shown;
  count.textContent = `${Math.min(shown, matching.length)} of ${matching.length} shown`;
}
function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  matching = rows.filter(entry => words.every(word => entry.text.includes(word)));
  shown = step;
  show();
}
function sort(head) {
  const column = head.cellIndex, isNumber = head.classList.contains("n");
  // Numbers begin with the largest, words with A.
  const down = head.getAttribute("aria-sort") === (isNumber ? "descending" : "ascending") ? !isNumber : isNumber;
  const key = entry => entry.row.cells[column].textContent;
  const order = isNumber ? (a, b) => a.key - b.key : (a, b) => a.key.localeCompare(b.key);
  const keyed = rows.map(entry => ({ entry, key: key(entry) })).sort((a, b) => down ? order(b, a) : order(a, b));
  keyed.forEach((one, i) => { rows[i] = one.entry; });
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  find();
}
for (const head of table.tHead.rows[0].cells) {
  const button = document.createElement("button");
  button.append(...head.childNodes);
  button.addEventListener("click", () => sort(head));
  head.append(button);
}
search.addEventListener("input", find);
more.addEventListener("click", () => { shown += step; show(); });
document.getElementById("tools").hidden = false;
find();
