// The list of documents: search, filters and order.

import {everything, data} from "./data.js";
import {fill, make, named} from "./elements.js";
import {drawFilters, hasKind, listenToFilters} from "./filters.js";
import {count, number} from "./numbers.js";
import {markHits, show} from "./reader.js";
import {query} from "./searching.js";

const OPENING = 14; // words of a document that the list shows
const list = named("list");
const [search, sort, predicted, label, outcome] =
  ["search", "sort", "predicted", "label", "outcome"].map(named);
const downward = named("downward");
let listed = [];
let current = null;

function matches(item, wanted) {
  const right = item.label === item.prediction ? "right" : "wrong";
  return wanted.finds(item) && hasKind(item)
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
  const words = data.without_text ? `document ${item.name}` : item.tokens.slice(0, OPENING).join(" ");
  const button = make("button", {type: "button"},
    make("span", {class: "key"}, value),
    make("span", {class: "kind"}, make("bdi", {}, data.classes[item.prediction]),
      right ? "" : " \u2717 wrong"),
    make("bdi", {class: "opening"}, words));
  if (item === current) button.setAttribute("aria-current", "true");
  return make("li", {}, button);
}

function says(wanted) {
  if (listed.length || wanted.empty) return `${count(listed.length)} of ${count(everything.length)} documents`;
  const part = search.value.includes("*") ? "" : ` Try ${search.value.trim()}* for parts of words.`;
  return `No document here has \u201c${search.value.trim()}\u201d as a word.${part}`;
}

function draw() {
  const wanted = query(search.value);
  listed = everything.filter((item) => matches(item, wanted)).sort(compare);
  fill(list, ...listed.map(entry));
  named("listed").textContent = says(wanted);
  markHits(wanted);
}

function mark(item) {
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const button = list.children[listed.indexOf(item)]?.firstChild;
  if (!button) return;
  button.setAttribute("aria-current", "true");
  const above = button.getBoundingClientRect().top - list.getBoundingClientRect().top + list.scrollTop;
  if (above < list.scrollTop) list.scrollTop = above; // only the list scrolls, never the page
  list.scrollTop = Math.max(list.scrollTop, above + button.offsetHeight - list.clientHeight);
}

export function open(item) {
  current = item;
  show(item);
  mark(item);
}

// Lists the documents that have a word, as if it had been typed.
export function searchFor(word) {
  search.value = word;
  draw();
  if (listed.length) open(listed[0]);
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
drawFilters();
listenToFilters(draw);
for (const control of [predicted, label]) control.addEventListener("input", drawFilters);
for (const control of [search, sort, predicted, label, outcome])
  control.addEventListener("input", draw);
downward.addEventListener("click", () => {
  const pressed = downward.getAttribute("aria-pressed") !== "true";
  downward.setAttribute("aria-pressed", String(pressed));
  draw();
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && listed.length) open(listed[0]);
});
list.addEventListener("click", (event) => {
  const row = event.target.closest("li");
  if (row) open(listed[Array.prototype.indexOf.call(list.children, row)]);
});
draw();
