// The list of documents: search, filters and order.

import {everything, data} from "./data.js";
import {fill, make, named} from "./elements.js";
import {count, number} from "./numbers.js";
import {show} from "./reader.js";

const OPENING = 14; // words of a document that the list shows
const list = named("list");
const [search, sort, predicted, label, outcome] =
  ["search", "sort", "predicted", "label", "outcome"].map(named);
const downward = named("downward");
const texts = new Map(); // the text that is searched, by document
let listed = [];
let current = null;

function text(item) {
  if (!texts.has(item))
    texts.set(item, [item.name, item.query ?? "", ...item.tokens].join(" ").toLowerCase());
  return texts.get(item);
}

function matches(item) {
  const right = item.label === item.prediction ? "right" : "wrong";
  return text(item).includes(search.value.trim().toLowerCase())
    && (predicted.value === "" || item.prediction === Number(predicted.value))
    && (label.value === "" || item.label === Number(label.value))
    && (outcome.value === "" || outcome.value === right);
}

// Documents without a value stand last in both directions.
function compare(one, other) {
  const [a, b] = [one.keys[sort.value], other.keys[sort.value]];
  if (a == null || b == null) return (a == null) - (b == null);
  return downward.getAttribute("aria-pressed") === "true" ? b - a : a - b;
}

function entry(item) {
  const key = item.keys[sort.value];
  const value = sort.value === "length" ? count(key) : number(key);
  const right = item.label === item.prediction;
  const words = item.tokens.slice(0, OPENING).join(" ");
  const button = make("button", {type: "button"},
    make("span", {class: "key"}, value),
    make("span", {class: "kind"}, make("bdi", {}, data.classes[item.prediction]),
      right ? "" : " \u2717 wrong"),
    make("bdi", {class: "opening"}, words));
  if (item === current) button.setAttribute("aria-current", "true");
  return make("li", {}, button);
}

function draw() {
  listed = everything.filter(matches).sort(compare);
  fill(list, ...listed.map(entry));
  named("listed").textContent = `${count(listed.length)} of ${count(everything.length)} documents`;
}

function mark(item) {
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const button = list.children[listed.indexOf(item)]?.firstChild;
  if (!button) return;
  button.setAttribute("aria-current", "true");
  const above = button.offsetTop - list.offsetTop; // only the list scrolls, never the page
  if (above < list.scrollTop) list.scrollTop = above;
  list.scrollTop = Math.max(list.scrollTop, above + button.offsetHeight - list.clientHeight);
}

export function open(item) {
  current = item;
  show(item);
  mark(item);
}

// Opens the next (1) or the previous (-1) document of the list.
export function step(by) {
  const place = listed.indexOf(current);
  const next = place < 0 ? 0 : Math.min(listed.length - 1, Math.max(0, place + by));
  if (listed[next]) open(listed[next]);
}

function fillControls() {
  const measured = Object.entries(data.sorts).filter(([key]) =>
    everything.some((item) => item.keys[key] != null));
  sort.append(...measured.map(([key, name]) => make("option", {value: key}, name)));
  for (const [select, key] of [[predicted, "prediction"], [label, "label"]]) {
    const found = new Set(everything.map((item) => item[key]));
    const places = Array.from(data.classes.keys()).filter((place) => found.has(place));
    select.append(...places.map((place) => make("option", {value: place}, data.classes[place])));
  }
}

fillControls();
for (const control of [search, sort, predicted, label, outcome])
  control.addEventListener("input", draw);
downward.addEventListener("click", () => {
  const pressed = downward.getAttribute("aria-pressed") !== "true";
  downward.setAttribute("aria-pressed", String(pressed));
  draw();
});
list.addEventListener("click", (event) => {
  const row = event.target.closest("li");
  if (row) open(listed[Array.prototype.indexOf.call(list.children, row)]);
});
draw();
