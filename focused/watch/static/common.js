// What all scripts share: elements whose content is text, calls, and what is said to the user.
export const byId = id => document.getElementById(id);

// An element with attributes and children; strings become text, never markup.
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return element;
}
// A stranger's text could turn the direction of what stands around it.
export const apart = text => make("bdi", {}, text);

export function link(url, text) {
  if (!/^https?:\/\//.test(url)) return apart(text);
  return make("a", { href: url, rel: "noopener noreferrer nofollow", target: "_blank" }, apart(text));
}
export const number = value => value === null || value === undefined ? "–" : value.toLocaleString("en-US");
export const fixed = (value, digits) => value === null || value === undefined ? "–" : value.toFixed(digits);

export async function call(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The page’s process does not answer: was it ended?");
  }
  if (answer.headers.get("content-type")?.startsWith("image/svg")) return answer.text();
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error ?? `answered with ${answer.status}`);
  return value;
}

let silence;
export function say(text) {
  byId("said").textContent = text;
  clearTimeout(silence);
  silence = setTimeout(() => { byId("said").textContent = ""; }, 6000);
}
// Runs what may fail, and says so; a button does not take a second click meanwhile.
export async function attempt(work, button) {
  if (button?.getAttribute("aria-busy") === "true") return undefined;
  button?.setAttribute("aria-busy", "true");
  try {
    return await work();
  } catch (error) {
    say(error.message);
    return undefined;
  } finally {
    button?.removeAttribute("aria-busy");
  }
}
