// Predictions under the model's weights and under the reader's.

import {data} from "./data.js";
import {make} from "./elements.js";
import {number} from "./numbers.js";

const MOST_CLASSES = 6; // rows; of many classes, the likeliest are shown

// A rounded number, with all its digits in the markup.
export function exact(value) {
  return make("data", {value: String(value)}, number(value));
}

export function className(place) {
  return make("bdi", {}, data.classes[place] ?? "?");
}

export function likeliest(shares) {
  return shares.indexOf(Math.max(...shares));
}

// A bar from 0 to 1; with two classes the decision line stands at one half.
function bar(share, hue, classes) {
  const part = make("span", {class: `share ${hue}`});
  part.style.setProperty("--share", `${(100 * share).toFixed(2)}%`);
  if (classes === 2) part.classList.add("halved");
  return part;
}

// A table by class: the model's prediction and the one from the current weights, as bars and numbers.
export function comparisonTable(own, now) {
  const order = Array.from(own.keys()).sort((a, b) =>
    Math.max(own[b], now[b]) - Math.max(own[a], now[a]) || a - b);
  const shown = order.slice(0, MOST_CLASSES).sort((a, b) => a - b);
  const head = make("tr", {}, make("th", {scope: "col"}, "class"),
    make("th", {scope: "col"}, own.length === 2 ? "decided at \u00bd" : "the largest decides"),
    make("th", {scope: "col", class: "figure"}, "model\u2019s weights"),
    make("th", {scope: "col", class: "figure"}, "your weights"));
  const rows = shown.map((place) => make("tr", {},
    make("th", {scope: "row"}, className(place)),
    make("td", {class: "bars"}, bar(own[place], "attention", own.length), bar(now[place], "comparison", own.length)),
    make("td", {class: "figure"}, exact(own[place])),
    make("td", {class: "figure"}, exact(now[place]))));
  return make("table", {class: "outcomes"}, make("thead", {}, head), make("tbody", {}, ...rows));
}
