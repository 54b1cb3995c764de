// One crawl, live: figures, what comes in, marks by keys and buttons, and what is shown when it is asked for.
import { answerButtons, pressed, showSaid, walkByKeys } from "./cards.js";
import { apart, attempt, byId, call, fixed, link, make, number, say } from "./common.js";
import { begin, pagesChanged } from "./found.js";

const base = `/api/crawls/${encodeURIComponent(document.body.dataset.key)}`;
const latest = byId("latest"), WORDS = { yes: "Yes", no: "No", unknown: "?" };
const said = new Map();  // by address, what was said here last: true until the crawl's own answer says the same
let now = null, charted = -1, isHeld = false, events;

// --- marks ---------------------------------------------------------------------------------------------------------

const buttonsFor = page => answerButtons(page, WORDS, saidOf(page), mark);
const saidOf = page => said.get(page.url) ?? page.said;

async function mark(url, word) {
  const before = pressed(url), after = before === word ? "" : word;
  said.set(url, after);
  showSaid(url, after);
  const noted = await attempt(() => call(`${base}/marks`, { marks: [{ url, said: after || "forget" }] }));
  if (noted) {
    say(`${after ? `Marked: ${after}` : "Taken back"}. ${now?.is_running ? "The crawl takes it in now." : "It counts when the crawl goes on."}`);
  } else {
    said.set(url, before);
    showSaid(url, before);
  }
}

// --- pages as cards ------------------------------------------------------------------------------------------------

function card(page, ...more) {
  const text = make("span", { class: "t" }, link(page.url, page.title || page.url), make("br"),
    make("span", { class: "u" }, `page ${number(page.order)}`, page.class ? " · " : "", page.class ? apart(page.class) : "", " · ", apart(page.url)));
  return make("li", { "data-url": page.url, "data-order": page.order, tabindex: "-1" },
    make("span", { class: "r", title: "relevance" }, fixed(page.relevance, 2)), text, buttonsFor(page), ...more);
}
function showLatest(pages) {
  const known = new Map([...latest.children].map(item => [item.dataset.order, item]));
  const fresh = pages.filter(page => !known.has(String(page.order)));
  const isBusy = isHeld || latest.contains(document.activeElement);
  for (const page of pages) {
    const item = known.get(String(page.order));
    if (item) item.querySelector(".r").textContent = fixed(page.relevance, 2);
    if (said.get(page.url) === page.said) said.delete(page.url);
    if (item && !said.has(page.url)) showSaid(page.url, page.said);
  }
  byId("newer").hidden = !(isBusy && fresh.length);
  byId("newer").textContent = `${fresh.length === pages.length ? "Many" : fresh.length} new: show`;
  if (isBusy && known.size) return;
  latest.replaceChildren(...pages.map(page => known.get(String(page.order)) ?? card(page, make("span", { class: "near" }))));
  if (!latest.querySelector("[tabindex='0']")) latest.firstElementChild?.setAttribute("tabindex", "0");
  showNear();
}
let isAsking = false;
async function showNear() {
  const wanted = [...latest.children].filter(item => !item.dataset.near).slice(0, 25);
  if (!wanted.length || isAsking) return;
  isAsking = true;
  for (const item of wanted) item.dataset.near = "asked";
  const texts = await call(`${base}/near?orders=${wanted.map(item => item.dataset.order).join(",")}`).catch(() => ({}));
  for (const item of wanted) {
    const words = texts[item.dataset.order] ?? [];
    item.querySelector(".near").replaceChildren(...words.flatMap(([word, kind]) => [make("span", { class: kind || null }, word), " "]));
    if (words.length) item.querySelector(".near").prepend("… "), item.querySelector(".near").append("…");
  }
  setTimeout(() => { isAsking = false; }, 2000);
}

const goTo = walkByKeys(["latest", "questions"], WORDS, mark, { w: item => why(item.dataset.url) });

// --- figures -------------------------------------------------------------------------------------------------------

function tile(value, words, small, share) {
  return make("div", { class: "tile" }, make("b", {}, value, small ? make("small", {}, ` ${small}`) : ""), make("span", {}, words),
    share === undefined ? "" : make("meter", { value: share, max: 1, "aria-label": words }));
}
function showFigures(crawl) {
  const of = (most, have) => most ? [`of ${number(most)}`, Math.min(have / most, 1)] : [];
  byId("tiles").replaceChildren(
    tile(number(crawl.found), crawl.found_lately === null ? "found (relevance ≥ 0.5)" : `found (relevance ≥ 0.5), ${number(crawl.found_lately)} of the last ${number(crawl.lately)}`, ...of(crawl.limits.found, crawl.found)),
    tile(number(crawl.pages), "pages fetched and judged", ...of(crawl.limits.pages, crawl.pages)),
    tile(number(Math.round(crawl.wanted ?? 0)), "wanted, about: the sum of relevance"),
    tile(fixed(crawl.harvest_lately, 2), `harvest lately; ${fixed(crawl.harvest, 3)} in all`),
    tile(fixed(crawl.pace_lately ?? crawl.pace, 1), crawl.pace_lately === null ? "pages a minute, over all" : `pages a minute lately; ${fixed(crawl.pace, 1)} in all`),
    tile(number(crawl.waiting), `links waiting on ${number(crawl.hosts_waiting)} hosts, ${number(crawl.leased)} in progress`));
  byId("marked").textContent = crawl.answers ? `Answers: ${crawl.answers}.` : "";
  if (crawl.unread) byId("marked").append(` ${number(crawl.unread)} not taken in yet.`);
  byId("outcomes").replaceChildren(...crawl.outcomes.map(([words, count]) => make("tr", {}, make("td", {}, words), make("td", { class: "n" }, number(count)))));
  byId("hosts").replaceChildren(...crawl.hosts.map(host => make("tr", {}, make("td", { class: "wide main" }, apart(host.host)),
    ...[["pages", number(host.pages)], ["found", number(host.found)], ["relevance", fixed(host.relevance, 2)], ["waiting", number(host.waiting)]]
      .map(([label, text]) => make("td", { class: "n", "data-label": label }, text)))));
  byId("hosts-more").textContent = `Links of ${number(crawl.hosts_waiting)} hosts wait. Shown are those of which most wait, and those with most relevance.`;
  byId("sparing").replaceChildren(...crawl.sparing.map(line => make("li", {}, line)));
  byId("alone").replaceChildren(...crawl.left_alone.map(one => make("li", {}, apart(one.host), ` is left alone for ${number(one.seconds)} s: ${one.why}`)));
  byId("warned").textContent = crawl.warnings.length ? `Warnings (${number(crawl.warnings.length)})` : "Warnings";
  byId("warnings").replaceChildren(...crawl.warnings.slice().reverse().map(one => make("li", {}, make("span", { class: "soft" }, `${one.time.slice(11, 19)} ${one.level.toLowerCase()} `), apart(one.words))));
  if (!crawl.warnings.length) byId("warnings").append(make("li", { class: "soft" }, "None since the crawl was started last (or its logs are elsewhere)."));
  byId("lines").replaceChildren(...crawl.lines.map(([label, words]) => make("li", {}, label ? make("span", { class: "soft" }, `${label}: `) : "", words)));
}
async function showChart(count, isNew) {
  const width = Math.floor(byId("chart").clientWidth);
  if (!count || width < 240 || (count === charted && !isNew)) return;
  charted = count;
  const svg = await call(`${base}/harvest.svg?width=${Math.min(width, 2000)}`).catch(() => null);
  if (svg === null) return;
  const drawn = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
  drawn.setAttribute("aria-label", `Harvest by pages: ${fixed(now.harvest_lately, 2)} lately, ${fixed(now.harvest, 3)} in all`);
  byId("chart").replaceChildren(drawn);
}
function show(crawl) {
  const was = now;
  now = crawl;
  byId("problem").textContent = crawl.problem;
  byId("problem").hidden = !crawl.problem;
  if (crawl.title === undefined) {
    if (crawl.problem) byId("state").textContent = "The crawl cannot be read.";
    return;
  }
  document.title = `${number(crawl.found)} found – ${crawl.title}`;
  byId("title").textContent = crawl.title;
  const state = `${crawl.state_in_words[0].toUpperCase()}${crawl.state_in_words.slice(1)}${crawl.is_paused ? "; paused" : ""}.`;
  // Read aloud when it changes, not with every second that passes.
  if (was && (was.state !== crawl.state || was.is_paused !== crawl.is_paused)) say(state);
  byId("state").textContent = state;
  byId("next").textContent = crawl.next_step;
  showFigures(crawl);
  showOrders(crawl);
  showLatest(crawl.latest);
  showChart(crawl.pages);
  pagesChanged(crawl.pages);
  if (!was || was.is_running !== crawl.is_running) showAgain();
}
function listen() {
  events = new EventSource(`${base}/events`);
  events.onmessage = event => { byId("away").hidden = true; show(JSON.parse(event.data)); };
  events.onerror = () => {
    byId("away").hidden = false;
    byId("away").textContent = events.readyState === EventSource.CLOSED
      ? "The page’s process has refused this page: open the address again that `scrapy watch` has printed."
      : "The page’s process does not answer; trying again.";
  };
}
// Nobody looks at a page in the background: nothing is read for it.
document.addEventListener("visibilitychange", () => {
  events.close();
  if (!document.hidden) listen();
});

const short = text => text.length > 90 ? `${text.slice(0, 89)}…` : text;

// --- what is asked for ---------------------------------------------------------------------------------------------

async function why(url) {
  const { lines } = await attempt(() => call(`${base}/why?url=${encodeURIComponent(url)}`)) ?? {};
  if (!lines) return;
  byId("story").textContent = lines.join("\n");
  byId("why").showModal();
}
byId("close").addEventListener("click", () => byId("why").close());

function onClick(id, work) {
  byId(id).addEventListener("click", event => attempt(work, event.currentTarget));
}
onClick("ask", async () => {
  const { questions } = await call(`${base}/questions?most=6`);
  byId("questions").replaceChildren(...questions.map(page => card(page, make("span", { class: "near" }, `words: ${page.words.join(", ")}`))));
  if (questions.length) goTo(byId("questions").firstElementChild);
  else say("No page to ask about: too few are likely to be wanted, or all of them are marked.");
});
onClick("show-next", async () => {
  const { waiting, next } = await call(`${base}/waiting?most=12`);
  byId("next-count").textContent = `${waiting} waiting; the next ones, as far as their hosts may be fetched.`;
  byId("waiting").replaceChildren(...next.map(one => make("li", {}, make("span", { class: "r" }, one.is_seed ? "seed" : fixed(one.score, 2)),
    make("span", { class: "t" }, link(one.url, one.url)), 
    one.reasons.length ? make("details", { class: "near" }, make("summary", {}, short(one.reasons[0])), ...one.reasons.map(line => make("div", {}, line))) : "")));
});
onClick("show-learned", async () => {
  const found = await call(`${base}/learned`);
  byId("learned-when").textContent = !found.learns ? `The prioritizer ${found.prioritizer} does not learn.`
    : found.groups.length ? `What ${found.prioritizer} has learned of links, ${found.when}: green raises the score of a link, red lowers it.`
      : "Nothing that can be shown was learned yet.";
  const words = (list, kind) => make("p", { class: kind }, ...(list.length ? list.flatMap((one, i) => [i ? " · " : "", apart(one.word), make("span", { class: "soft" }, ` ${one.weight > 0 ? "+" : "−"}${Math.abs(one.weight).toFixed(2)}`)]) : ["–"]));
  byId("learned").replaceChildren(...found.groups.flatMap(group => [make("h3", {}, `Words ${group.where}`), words(group.for, "for"), words(group.against, "against")]));
});
onClick("hold", async () => {
  isHeld = !isHeld;
  byId("hold").setAttribute("aria-pressed", String(isHeld));
  if (!isHeld && now) showLatest(now.latest);
});
onClick("newer", async () => {
  const was = isHeld;
  isHeld = false;
  document.activeElement?.blur();
  showLatest(now.latest);
  isHeld = was;
  byId("newer").hidden = true;
});
function showOrders(crawl) {
  const line = text => {
    const [verb, pattern] = [text.split(" ", 1)[0], text.slice(text.indexOf(" ") + 1)];
    const drop = make("button", { type: "button", class: "plain", "aria-label": `Drop: ${text}` }, "Drop");
    drop.addEventListener("click", () => order("drop", pattern, drop));
    return make("li", {}, apart(text), " ", verb === "leave-out" || verb === "prefer" ? drop : "");
  };
  const told = JSON.stringify([crawl.orders, crawl.not_done, crawl.unread_orders]);
  if (byId("orders").dataset.told === told) return;
  byId("orders").dataset.told = told;
  byId("orders").replaceChildren(...crawl.orders.map(line), ...crawl.not_done.map(text => make("li", { class: "soft" }, apart(text), ": cannot be done, where this crawl runs")));
  if (crawl.unread_orders) byId("orders").append(make("li", { class: "soft" }, `${number(crawl.unread_orders)} not taken in yet`));
  if (!byId("orders").children.length) byId("orders").append(make("li", { class: "soft" }, "None."));
}
async function order(verb, value, button) {
  const noted = await attempt(() => call(`${base}/orders`, { verb, value }), button);
  if (noted) say(`Ordered: ${verb}${value ? ` ${value}` : ""}. ${now?.is_running ? "The crawl takes it in now." : "It counts when the crawl goes on."}`);
  return noted;
}
for (const button of document.querySelectorAll("[data-verb]")) {
  button.addEventListener("click", () => {
    if (button.dataset.verb !== "end" || confirm("End the crawl? It can be started again, and goes on then.")) order(button.dataset.verb, "", button);
  });
}
byId("order").addEventListener("submit", async event => {
  event.preventDefault();
  const form = event.currentTarget, given = new FormData(form);
  if (await order(given.get("verb"), given.get("value").trim(), form.querySelector("button"))) form.elements.value.value = "";
});
byId("made").addEventListener("toggle", () => attempt(async () => {
  const made = await call(`${base}/made`), { topic, settings } = made;
  const rows = [["topic", topic.name], ["description", topic.description], ["keywords", topic.keywords.join(", ")], ["classes wanted", topic.focus.join(", ")],
    ["seeds", topic.seeds.join(" ")], ["critic", made.critic], ["prioritizer", made.prioritizer], ...Object.entries(settings)];
  byId("made").querySelector("dl").replaceChildren(...rows.filter(([, value]) => value).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, apart(value))]));
}));
// A crawl that was begun on the page is started again on the page.
let isWaiting = false;
async function showAgain() {
  const again = await call(`${base}/startable`).catch(() => null);
  if (!again) return;
  byId("again").hidden = !again.possible;
  // It says which command to run.
  byId("next").hidden = again.possible || again.is_starting;
  byId("restarting").textContent = again.is_starting ? "It is starting …" : again.problem;
  byId("restarting").className = again.problem ? "problem" : "";
  const pages = byId("again").elements.pages;
  if (again.possible && !pages.value) pages.value = Math.max(now.limits.pages ?? 0, now.pages + 500);
  if (again.is_starting && !isWaiting) {
    isWaiting = true;
    setTimeout(() => { isWaiting = false; showAgain(); }, 1000);
  }
}
byId("again").addEventListener("submit", event => {
  event.preventDefault();
  const form = event.currentTarget;
  attempt(async () => {
    const pages = Number(form.elements.pages.value);
    if (now.is_paused) await call(`${base}/orders`, { verb: "go-on", value: "" });
    // An order to stop at so many pages would hold.
    if (now.orders.some(text => text.startsWith("limit pages="))) await call(`${base}/orders`, { verb: "limit", value: `pages=${pages}` });
    await call(`${base}/start`, { pages });
    form.elements.pages.value = "";
    showAgain();
  }, form.querySelector("button"));
});
let resized;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => now && showChart(now.pages, true), 300); });
begin(base, buttonsFor);
listen();
