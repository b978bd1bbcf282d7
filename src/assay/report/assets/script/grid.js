// Every score of a document as a row, its words as columns, and tau with attention at the row's end.

import {fill, make, named} from "./elements.js";
import {number} from "./numbers.js";
import {kendall} from "./ranking.js";
import {showTip} from "./tip.js";

const MOST_COLUMNS = 60; // adjacent words, those that hold the most attention
const MOST_FOR_TAU = 600; // items; tau compares every pair

function windowStart(weights) {
  let [start, most, sum] = [0, 0, 0];
  weights.forEach((weight, place) => {
    sum += weight - (place >= MOST_COLUMNS ? weights[place - MOST_COLUMNS] : 0);
    if (sum > most + 1e-12) [most, start] = [sum, Math.max(0, place - MOST_COLUMNS + 1)];
  });
  return weights.length <= MOST_COLUMNS ? 0 : start;
}

function cell(text, value, largest, hue) {
  const share = largest > 0 && Number.isFinite(value) ? Math.abs(value) / largest : 0;
  const part = make("td", {class: value < 0 ? `${hue} below` : hue, "data-tip": `${text}: ${number(value)}`},
    make("span", {class: "unseen"}, number(value)));
  if (share > 0) part.style.setProperty("--share", `${(100 * share).toFixed(0)}%`);
  return part;
}

function tau(item, score) {
  if (score === "attention" || item.tokens.length > MOST_FOR_TAU) return "";
  return number(kendall(item.values.attention, item.values[score]), 2);
}

function row(item, score, name, [start, end]) {
  const values = item.values[score];
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);
  const hue = score === "attention" ? "attention" : "comparison";
  const cells = Array.from(values.slice(start, end), (value, place) =>
    cell(item.tokens[start + place], value, largest, hue));
  return make("tr", {}, make("th", {scope: "row"}, name), ...cells,
    make("td", {class: "figure"}, tau(item, score)));
}

export function drawGrid(item, names) {
  const start = windowStart(item.values.attention);
  const end = Math.min(start + MOST_COLUMNS, item.tokens.length);
  const shown = Object.keys(names).filter((score) =>
    score !== "difference" && score !== "rationale" && item.values[score]);
  const head = make("tr", {}, make("th", {scope: "col"}, "score"),
    ...item.tokens.slice(start, end).map((text) =>
      make("th", {scope: "col", class: "word"}, make("bdi", {}, text))),
    make("th", {scope: "col", class: "figure"}, "\u03c4 with attention"));
  fill(named("grid"), make("table", {class: "grid"}, make("thead", {}, head),
    make("tbody", {}, ...shown.map((score) => row(item, score, names[score], [start, end])))));
  const missing = Object.keys(names).filter((score) => !item.values[score]).map((score) => names[score]);
  const cut = end - start < item.tokens.length
    ? `Words ${start + 1} to ${end} of ${item.tokens.length}, which hold the most attention. ` : "";
  const absent = missing.length ? `Not computed for this document: ${missing.join(", ")}.` : "";
  named("grid-note").textContent = cut + absent;
}

named("grid").addEventListener("pointerover", ({target}) => {
  const text = target.closest("[data-tip]")?.dataset.tip ?? "";
  const box = target.getBoundingClientRect();
  showTip(text, box.left, box.top);
});
named("grid").addEventListener("pointerleave", () => showTip(""));
