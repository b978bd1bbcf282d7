// How is one document shown? Under one score, beside it under another, and what was predicted.

import {held, opened, scoreNames} from "./data.js";
import {fill, make, named} from "./elements.js";
import {heatmap} from "./heatmap.js";
import {logits, probabilities} from "./model.js";
import {count, number} from "./numbers.js";
import {className, exact, likeliest} from "./outcome.js";
import {openWhatIf} from "./whatif.js";

const names = scoreNames();
const USUAL = ["attention", "gradient", "leave_one_out", "adversary", "difference"]; // one click away
const chosen = {score: "attention", beside: "adversary"};
let item = null;

// What the model predicts from a list of weights; scores that are no weights predict nothing.
function prediction(score) {
  const {keys, values, affine} = item;
  if (score === "attention") {
    const said = make("p", {class: "outcome"}, "predicts ", className(item.prediction));
    if (item.probabilities.length) said.append(" ", exact(item.probabilities[item.prediction]));
    return said;
  }
  if (score !== "adversary") return make("p", {class: "outcome"}, "\u00a0");
  const said = make("p", {class: "outcome"});
  if (affine) {
    const shares = probabilities(logits(affine, values.adversary));
    const winner = likeliest(shares);
    said.append("predicts ", className(winner), " ", exact(shares[winner]), "; ");
  }
  said.append("TVD ", number(keys.moved), ", JSD ", number(keys.jsd));
  return said;
}

function panel(score) {
  const name = names[score];
  const values = item.values[score];
  const title = make("h4", {class: "over"}, name);
  if (!values) return make("div", {}, title, make("p", {class: "note"},
    "not measured on this document"));
  const hue = score === "attention" ? "attention" : score === "difference" ? "rival signed" : "rival";
  return make("div", {}, title, prediction(score),
    ...heatmap(item.tokens, values, name, hue, item.values.rationale));
}

function drawPair() {
  const second = chosen.beside && chosen.beside !== chosen.score ? panel(chosen.beside) : null;
  fill(named("pair"), panel(chosen.score), second);
}

function drawHeading() {
  const right = item.label === item.prediction;
  fill(named("reader-title"), "document ", make("bdi", {}, item.name), ": predicted ",
    className(item.prediction), right ? ", rightly" : ", labelled ", right ? "" : className(item.label));
  const facts = [`${count(item.tokens.length)} items`];
  for (const [key, name] of Object.entries(held.sorts))
    if (key !== "length" && item.keys[key] != null) facts.push(`${name} ${number(item.keys[key])}`);
  named("reader-facts").textContent = facts.join("; ");
  named("reader-query").hidden = !item.query;
  fill(named("reader-query"), make("b", {}, "asked: "), make("bdi", {}, item.query ?? ""));
}

// What an underline means, where the document has any.
function drawLegend() {
  const marked = item.values.rationale?.filter((mark) => mark === 1).length ?? 0;
  named("reader-marks").hidden = marked === 0;
  fill(named("reader-marks"), make("span", {class: "marked"}, make("bdi", {}, "Underlined")),
    `: marked as the reason, ${count(marked)} of ${count(item.tokens.length)} items`);
}

export function show(document_) {
  item = opened(document_);
  drawHeading();
  drawLegend();
  drawPair();
  openWhatIf(item);
}

export function shade(score) {
  for (const radio of named("scores").querySelectorAll("input")) radio.checked = radio.value === score;
  named("another").value = USUAL.includes(score) ? "" : score;
  chosen.score = score;
  if (item) drawPair();
}

export const scoreOrder = Object.keys(names);

function offerScores() {
  const option = (score) => make("option", {value: score}, names[score]);
  const usual = scoreOrder.filter((score) => USUAL.includes(score));
  const others = scoreOrder.filter((score) => !USUAL.includes(score));
  fill(named("scores"), make("legend", {}, "Shade by"), ...usual.map((score) => make("label", {},
    make("input", {type: "radio", name: "score", value: score}), " ", names[score])));
  named("another").append(...others.map(option));
  named("more-scores").hidden = others.length === 0;
  named("beside").append(...scoreOrder.map(option));
  chosen.beside = names.adversary ? "adversary" : names.leave_one_out ? "leave_one_out" : "";
  named("beside").value = chosen.beside;
}

offerScores();
shade(chosen.score);
named("another").addEventListener("change", (event) => shade(event.target.value || "attention"));
named("scores").addEventListener("change", (event) => shade(event.target.value));
named("beside").addEventListener("change", (event) => {
  chosen.beside = event.target.value;
  drawPair();
});
named("numbers").addEventListener("change", (event) =>
  named("reader").classList.toggle("numbered", event.target.checked));
