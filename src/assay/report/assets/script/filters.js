// Filters of the list: kinds of failure as chips, and a confusion matrix whose cells can be chosen.

import {data, everything} from "./data.js";
import {fill, make, named} from "./elements.js";
import {count} from "./numbers.js";

const MOST_IN_MATRIX = 8; // a larger matrix does not fit; the two menus filter by class as well
const [chips, matrix] = [named("chips"), named("confusion")];
const [byPrediction, byLabel] = [named("predicted"), named("label")];
let kind = null; // the pressed chip

export function hasKind(item) {
  return kind === null || item.kinds.includes(kind);
}

function drawChips() {
  const found = data.kinds.map(([name], place) =>
    [name, place, everything.filter((item) => item.kinds.includes(place)).length]);
  fill(chips, ...found.filter(([, , many]) => many).map(([name, place, many]) =>
    make("button", {type: "button", class: "chip", "aria-pressed": String(place === kind),
      "data-kind": place}, `${name} `, make("span", {class: "many"}, count(many)))));
  named("chip-note").textContent = kind === null ? "" : `${data.kinds[kind][0]}: ${data.kinds[kind][1]}.`;
}

function drawMatrix() {
  const classes = Array.from(data.classes.keys());
  named("confusion-part").hidden = classes.length > MOST_IN_MATRIX;
  if (classes.length > MOST_IN_MATRIX) return;
  const many = (one, other) =>
    everything.filter((item) => item.label === one && item.prediction === other).length;
  const head = make("tr", {}, make("th", {scope: "col"}, "labelled"), ...classes.map((place) =>
    make("th", {scope: "col", class: "figure"}, "predicted ", make("bdi", {}, data.classes[place]))));
  const rows = classes.map((one) => make("tr", {},
    make("th", {scope: "row"}, make("bdi", {}, data.classes[one])),
    ...classes.map((other) => make("td", {class: "figure"}, make("button",
      {type: "button", class: one === other ? "right" : "wrong", "data-label": one, "data-predicted": other,
        "aria-pressed": String(byLabel.value === String(one) && byPrediction.value === String(other)),
        "aria-label": `labelled ${data.classes[one]}, predicted ${data.classes[other]}: ${many(one, other)}`},
      count(many(one, other)))))));
  fill(matrix, make("thead", {}, head), make("tbody", {}, ...rows));
}

// `changed` is called when a filter changes.
export function listenToFilters(changed) {
  chips.addEventListener("click", ({target}) => {
    const chosen = target.closest("[data-kind]");
    if (!chosen) return;
    const place = Number(chosen.dataset.kind);
    kind = kind === place ? null : place;
    drawChips();
    chips.querySelector(`[data-kind="${place}"]`).focus();
    changed();
  });
  matrix.addEventListener("click", ({target}) => {
    const cell = target.closest("[data-label]");
    if (!cell) return;
    const again = cell.getAttribute("aria-pressed") === "true";
    byLabel.value = again ? "" : cell.dataset.label;
    byPrediction.value = again ? "" : cell.dataset.predicted;
    drawFilters();
    matrix.querySelector(`[data-label="${cell.dataset.label}"][data-predicted="${cell.dataset.predicted}"]`).focus();
    changed();
  });
}

export function drawFilters() {
  drawChips();
  drawMatrix();
}
