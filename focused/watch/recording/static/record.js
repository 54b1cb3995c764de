// The page with the buttons. What is framed has no scripts and no origin: the server says where one is.
import { apart, attempt, byId, call, make, say } from "./common.js";

const frame = byId("page"), framed = `/framed/${document.body.dataset.key}`;
let state = null, isOver = false;

// Where the frame is, it may have gone by a click inside; what a button does, it is told.
const show = () => { frame.src = `${framed}/at?${Date.now()}`; };
const marked = { goal: "goal", not: "not" };

function step(one) {
  return make("li", { class: one.label === "goal" || one.label === "fail" ? one.label : null },
    apart(one.title || one.url), one.label ? make("b", {}, " · ", apart(one.label)) : null);
}
function draw(next) {
  const wasAt = state?.at, had = state?.problem;
  state = next;
  document.body.dataset.number = state.number;
  byId("title").textContent = state.title || state.url || "Record paths";
  byId("url").textContent = state.url;
  byId("label").textContent = state.label ? `· ${state.label}` : "";
  byId("problem").textContent = state.problem ? `${state.problem}. Go on with Back.` : state.fetching ? `Fetching ${state.fetching} …` : "";
  byId("problem").hidden = !byId("problem").textContent;
  const canSay = state.at >= 0 && !state.problem && !state.fetching && !isOver;
  for (const id of ["goal", "milestone", "not"]) byId(id).disabled = !canSay;
  byId("back").disabled = isOver || !(state.can_go_back || state.fetching);
  byId("undo").disabled = isOver || !state.can_undo;
  for (const [id, label] of Object.entries(marked)) byId(id).setAttribute("aria-pressed", state.label === label);
  byId("milestone").setAttribute("aria-pressed", Boolean(state.label) && !Object.values(marked).includes(state.label));
  byId("names").replaceChildren(...state.milestones.map(name => make("option", { value: name })));
  byId("counts").textContent = state.ways.length ? `${state.goals} to goals, ${state.failures} that failed: ${state.file}` : "None so far.";
  byId("ways").replaceChildren(...state.ways.map(way => make("li", {}, make("ul", { class: "lines" }, ...way.steps.map(step)))));
  byId("unreached").textContent = state.unreached.length ? `No way, since nothing links to it here: ${state.unreached.join(" ")}` : "";
  if (state.at !== wasAt || state.problem !== had) byId("named").hidden = true;
}
async function press(name, body = {}) {
  const was = state?.at, had = state?.problem;
  draw(await call(`/api/${name}`, body));
  if (name !== "label" || state.at !== was || state.problem !== had) show();
}
const label = name => attempt(() => press("label", { page: state.at, label: name }));
function ask() {
  byId("named").hidden = false;
  byId("name").value = Object.values(marked).includes(state.label) ? "" : state.label;
  byId("name").focus();
}
function noAsk() {
  byId("named").hidden = true;
  byId("bar").focus();
}
const pressed = {
  g: ["goal", () => label("goal")], n: ["not", () => label("not")], m: ["milestone", ask],
  b: ["back", () => attempt(() => press("back"))], u: ["undo", () => attempt(() => press("undo"))],
};
for (const [id, act] of Object.values(pressed)) byId(id).addEventListener("click", act);
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && !byId("named").hidden) noAsk();
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input")) return;
  const [id, act] = pressed[event.key] ?? [];
  if (!id || byId(id).disabled) return;
  event.preventDefault();
  act();
});
byId("named").addEventListener("submit", event => {
  event.preventDefault();
  const name = byId("name").value.trim();
  if (!name) return;
  noAsk();
  label(name);
});
byId("cancel").addEventListener("click", noAsk);
byId("elsewhere").addEventListener("submit", event => {
  event.preventDefault();
  attempt(() => press("open", { url: byId("address").value }));
});
byId("finish").addEventListener("click", () => attempt(() => call("/api/finish", {})));
// A click in the frame takes the keys there.
frame.addEventListener("load", () => { if (!byId("named").contains(document.activeElement) && document.activeElement !== byId("address")) byId("bar").focus(); });

const events = new EventSource("/api/events");
events.onmessage = event => { if (!isOver) draw(JSON.parse(event.data)); };
events.addEventListener("end", () => {
  isOver = true;
  events.close();
  if (state) draw(state);
  byId("finish").disabled = true;
  say("Finished: the terminal says what was written. This page can be closed.");
});
events.onerror = () => { if (!isOver) say("The page’s process does not answer: was it ended?"); };
show();
