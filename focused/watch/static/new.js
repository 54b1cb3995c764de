// A crawl is begun: words and seeds, a sample that is judged and corrected, the topic file, the start.
import { answerButtons, pressed, showSaid, walkByKeys } from "./cards.js";
import { apart, attempt, byId, call, fixed, link, make, number, say } from "./common.js";

const WORDS = { yes: "Yes", no: "No" }, list = byId("pages"), form = byId("wanted");
const answers = new Map();  // by address, also those of earlier tries
let base = "", events, now = null, isEdited = false, wait, isSaying = 0;

const tell = (id, text) => { byId(id).textContent = text; byId(id).hidden = !text; };
const plural = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;

// --- words and seeds -----------------------------------------------------------------------------------------------

form.addEventListener("submit", event => {
  event.preventDefault();
  attempt(async () => {
    tell("problem", "");
    const wanted = new FormData(form);
    const asked = {
      words: wanted.get("words"), seeds: wanted.get("seeds"), name: wanted.get("name"), pages: Number(wanted.get("pages")),
      answers: [...answers].map(([url, said]) => ({ url, said })), instead: now?.id ?? "",
    };
    try {
      const draft = await call("/api/drafts", asked);
      history.replaceState(null, "", `#${draft.id}`);
      isEdited = false;
      list.replaceChildren();
      listen(draft);
    } catch (error) {
      tell("problem", error.message);
    }
  }, form.querySelector("button"));
});

// --- the sample ----------------------------------------------------------------------------------------------------

function listen(draft) {
  events?.close();
  base = `/api/drafts/${draft.id}`;
  show(draft);
  events = new EventSource(`${base}/events`);
  events.onmessage = event => show(JSON.parse(event.data));
  events.onerror = () => tell("problem", events.readyState === EventSource.CLOSED
    ? "This try is not there any more: try again. What you said is kept." : "The page’s process does not answer; trying again.");
  events.onopen = () => tell("problem", now?.is_begun ? "" : now?.problem ?? "");
}
function show(draft) {
  const was = now;
  now = draft;
  const { done, total, failed } = draft.progress, isFetching = draft.state === "fetching";
  tell("problem", draft.is_begun ? "" : draft.problem);
  byId("sample").hidden = false;
  byId("progress").hidden = !isFetching;
  byId("progress").max = total;
  byId("progress").value = done;
  const missing = failed ? `; ${number(failed)} could not be had` : "";
  byId("how-far").textContent = isFetching ? `Fetching pages, politely: ${number(done)} of ${number(total)}${missing} …`
    : draft.pages.length ? `About ${number(Math.round(draft.wanted))} of ${plural(draft.pages.length, "page")} wanted; ${number(draft.found)} would be found (relevance 0.5 and more).` : "";
  byId("warnings").replaceChildren(...draft.warnings.map(words => make("li", { class: "problem" }, apart(words))));
  byId("given").textContent = draft.words.length ? `Pages that have each word: ${draft.words.map(([word, pages]) => `${word} ${number(pages)}`).join(", ")}.` : "";
  byId("keys").hidden = byId("best").hidden = !draft.pages.length;
  byId("missing").hidden = !draft.missing.length;
  byId("missing").querySelector("summary").textContent = `${plural(draft.missing.length, "page")} could not be had`;
  byId("missing").querySelector("ul").replaceChildren(...draft.missing.map(one => make("li", {}, link(one.url, one.url), `: ${one.why}`)));
  showPages(draft.pages);
  byId("begin").hidden = !draft.pages.length;
  if (draft.pages.length && (!was?.pages.length || was.id !== draft.id)) showFile();
  showStart(draft);
}
function showPages(pages) {
  if (!isSaying) for (const page of pages) if (page.said) answers.set(page.url, page.said); else answers.delete(page.url);
  if (!list.children.length && pages.length) {
    list.replaceChildren(...pages.map(card));
    bestFirst();
  }
  const byUrl = new Map(pages.map(page => [page.url, page]));
  for (const item of list.children) {
    const page = byUrl.get(item.dataset.url);
    if (!page) continue;
    const change = page.relevance - page.before, was = fixed(page.before, 2), words = item.querySelector(".change");
    item.querySelector(".r").textContent = fixed(page.relevance, 2);
    item.classList.toggle("is-found", page.relevance >= 0.5);
    words.textContent = was === fixed(page.relevance, 2) ? "" : `${change > 0 ? "▲" : "▼"} was ${was}`;
    words.className = `change ${change > 0 ? "for" : "against"}`;
    if (!isSaying) showSaid(page.url, page.said);
  }
}
function card(page) {
  const near = page.near.flatMap(([word, speaks]) => [speaks ? make("span", { class: "spoke" }, word) : word, " "]);
  return make("li", { "data-url": page.url, tabindex: "-1" },
    make("span", { class: "r", title: "relevance" }, fixed(page.relevance, 2)),
    make("span", { class: "t" }, link(page.url, page.title || page.url), make("br"),
      make("span", { class: "u" }, page.is_seed ? "seed · " : "", apart(page.url), " "), make("span", { class: "change" })),
    answerButtons(page, WORDS, page.said, answer),
    make("span", { class: "near" }, make("bdi", {}, near.length ? "… " : "", ...near, near.length ? "…" : "")));
}
function bestFirst() {
  const relevance = new Map(now.pages.map(page => [page.url, page.relevance]));
  const best = [...list.children].sort((one, other) => relevance.get(other.dataset.url) - relevance.get(one.dataset.url));
  list.replaceChildren(...best);
  for (const item of best) item.tabIndex = item === best[0] ? 0 : -1;
}
byId("best").addEventListener("click", bestFirst);

async function answer(url, word) {
  const before = pressed(url), after = before === word ? "" : word;
  showSaid(url, after);
  isSaying += 1;
  const draft = await attempt(() => call(`${base}/answers`, { answers: [{ url, said: after || "forget" }] }));
  isSaying -= 1;
  if (!draft) {
    showSaid(url, before);
    return;
  }
  if (isSaying) return;
  show(draft);
  const changed = draft.pages.filter(page => fixed(page.relevance, 2) !== fixed(page.before, 2)).length;
  say(`${after ? `Said: ${after}` : "Taken back"}. ${plural(changed, "page")} judged otherwise now; about ${number(Math.round(draft.wanted))} wanted.`);
  clearTimeout(wait);
  if (!isEdited) wait = setTimeout(showFile, 300);
}
walkByKeys(["pages"], WORDS, answer);

// --- the topic file, and the start ---------------------------------------------------------------------------------

function showTable(files) {
  const rows = files.table.split("\n").length - 2;
  byId("table").hidden = !files.table;
  byId("table").querySelector("summary").textContent = `${plural(Math.max(rows, 0), "page")} that you marked, its examples: ${files.table_file}`;
  byId("table").querySelector("pre").textContent = files.table;
}
async function tried(work) {
  try {
    const done = await work();
    tell("wrong", "");
    return done;
  } catch (error) {
    tell("wrong", error.message);
    return undefined;
  }
}
async function showFile() {
  const files = await tried(() => call(`${base}/topic`));
  if (!files || isEdited) return;
  byId("file").textContent = files.file;
  byId("where").textContent = `It is kept in ${files.folder}, beside the job.`;
  byId("toml").value = files.toml;
  byId("anew").hidden = true;
  showTable(files);
}
byId("toml").addEventListener("input", () => { isEdited = true; byId("anew").hidden = false; });
byId("anew").addEventListener("click", () => { isEdited = false; showFile(); });
byId("check").addEventListener("click", event => attempt(async () => {
  const files = await tried(() => call(`${base}/check`, { toml: byId("toml").value }));
  if (!files) return;
  showTable(files);
  if (isEdited) byId("toml").value = files.toml;
  say("Nothing is wrong with it.");
}, event.currentTarget));
byId("start").addEventListener("submit", event => {
  event.preventDefault();
  const given = byId("start"), pages = Number(given.elements.pages.value);
  attempt(async () => {
    const draft = await tried(() => call(`${base}/start`, { toml: byId("toml").value, pages }));
    if (draft) show(draft);
  }, given.querySelector("[type=submit]"));
});
function showStart(draft) {
  const isUnderway = draft.state === "starting" || draft.state === "started";
  for (const button of document.querySelectorAll("#start button, #wanted button")) button.disabled = isUnderway;
  byId("starting").textContent = draft.state === "starting" ? "The crawl is starting: its examples are fetched first …" : "";
  if (draft.is_begun && draft.problem) tell("wrong", draft.problem);
  if (draft.state === "started" && draft.crawl) {
    events?.close();
    // Back leads to the list, not here.
    location.replace(`/crawls/${encodeURIComponent(draft.crawl)}`);
  }
}

// Until now a click would have gone nowhere.
form.querySelector("button").disabled = false;
// Opened again, the page goes on where it was.
if (/^#[0-9a-f]{16}$/.test(location.hash)) {
  attempt(async () => {
    const draft = await call(`/api/drafts/${location.hash.slice(1)}`);
    for (const [name, values] of [["words", draft.keywords.join(", ")], ["seeds", draft.seeds.join("\n")], ["name", draft.name]]) form.elements[name].value = values;
    listen(draft);
  });
}
