// Cards of pages that are gone through by keys, and judged by keys or buttons.
import { byId, make } from "./common.js";

const KEYS = { y: "yes", n: "no", u: "unknown" };

// A button for each answer that is offered: its word, and its text.
export function answerButtons(page, offered, pressed, answer) {
  const name = page.title || page.url;
  const buttons = Object.entries(offered).map(([word, text]) => make("button", {
    type: "button", "data-said": word, "aria-label": `${word === "unknown" ? "not known" : word}: ${name}`,
    "aria-pressed": String(pressed === word),
  }, text));
  for (const button of buttons) button.addEventListener("click", () => answer(page.url, button.dataset.said));
  return make("span", { class: "said-of", role: "group", "aria-label": `Is it wanted? ${name}` }, ...buttons);
}
export function showSaid(url, word) {
  for (const item of document.querySelectorAll("[data-url]")) {
    if (item.dataset.url !== url) continue;
    for (const button of item.querySelectorAll("[data-said]")) button.setAttribute("aria-pressed", String(button.dataset.said === word));
  }
}
export function pressed(url) {
  const item = [...document.querySelectorAll("[data-url]")].find(one => one.dataset.url === url);
  return item?.querySelector("[data-said][aria-pressed=true]")?.dataset.said ?? "";
}

// Gives a function that goes to a card. The first of the lists is entered by j; `more` are other keys.
export function walkByKeys(names, offered, answer, more = {}) {
  const lists = () => names.map(byId);
  function current() {
    return lists().map(list => list.querySelector("li[aria-current=true]")).find(Boolean) ?? null;
  }
  function goTo(item) {
    if (!item) return;
    for (const list of lists()) {
      for (const other of list.children) {
        other.removeAttribute("aria-current");
        other.tabIndex = -1;
      }
    }
    item.setAttribute("aria-current", "true");
    item.tabIndex = 0;
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("focusin", event => {
    const item = event.target.closest?.(".cards li[data-url]");
    if (item && item.getAttribute("aria-current") !== "true" && event.target === item) goTo(item);
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || event.target.closest("input, select, textarea")) return;
    const item = current(), said = KEYS[event.key];
    if (event.key === "j") goTo(item ? item.nextElementSibling : lists()[0].firstElementChild);
    else if (event.key === "k") goTo(item?.previousElementSibling);
    else if (more[event.key] && item) more[event.key](item);
    else if (offered[said] && item) {
      answer(item.dataset.url, said);
      goTo(item.nextElementSibling);
    } else return;
    event.preventDefault();
  });
  return goTo;
}
