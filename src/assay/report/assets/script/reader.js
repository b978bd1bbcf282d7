// One document under one score, beside it under another, and what was predicted.

import {copyAddress, writeAddress} from "./address.js";
import {data, opened, scoreNames} from "./data.js";
import {fill, make, named} from "./elements.js";
import {drawGrid} from "./grid.js";
import {heatmap} from "./heatmap.js";
import {logits, probabilities} from "./model.js";
import {count, number} from "./numbers.js";
import {className, exact, likeliest} from "./outcome.js";
import {openWhatIf} from "./whatif.js";

const names = scoreNames();
const USUAL = ["attention", "gradient", "leave_one_out", "adversary", "difference"]; // one click away
const chosen = {score: "attention", beside: "adversary"};
let item = null;
let hits = () => false; // whether a word was searched for

// The prediction from a list of weights; scores that are not weights have none.
function prediction(score) {
  const {keys, values, affine} = item;
  if (score === "attention") {
    const line = make("p", {class: "outcome"}, "predicts ", className(item.prediction));
    if (item.probabilities.length) line.append(" ", exact(item.probabilities[item.prediction]));
    return line;
  }
  if (score !== "adversary") return make("p", {class: "outcome"}, "\u00a0");
  const line = make("p", {class: "outcome"});
  if (affine) {
    const shares = probabilities(logits(affine, values.adversary));
    const winner = likeliest(shares);
    line.append("predicts ", className(winner), " ", exact(shares[winner]), "; ");
  }
  line.append("moved by ", number(keys.moved), " (TVD), weights by ", number(keys.jsd), " (JSD)");
  return line;
}

function panel(score) {
  const name = names[score];
  const values = item.values[score];
  const title = make("h4", {class: "over"}, name);
  if (!values) return make("div", {}, title, make("p", {class: "note"},
    "not measured on this document"));
  const hue = score === "attention" ? "attention" : score === "difference" ? "comparison signed" : "comparison";
  return make("div", {}, title, prediction(score),
    ...heatmap(item.tokens, values, name, hue, item.values.rationale));
}

function drawPair() {
  const second = chosen.beside && chosen.beside !== chosen.score ? panel(chosen.beside) : null;
  fill(named("pair"), panel(chosen.score), second);
  drawHits();
}

function drawHits() {
  for (const word of named("pair").querySelectorAll("[role=option]"))
    word.classList.toggle("hit", hits(word.firstChild.textContent));
}

// Frames the words of the open document that were searched for.
export function markHits(wanted) {
  hits = wanted.empty ? () => false : wanted.hits;
  if (item) drawHits();
}

// Which scores this document has is said in the menus.
function drawMenus() {
  for (const option of document.querySelectorAll("#another option[value], #beside option[value]")) {
    const absent = option.value !== "" && !item.values[option.value];
    option.disabled = absent;
    if (option.value) option.textContent = names[option.value] + (absent ? " (not for this document)" : "");
  }
}

export function keepAddress() {
  if (item) writeAddress({doc: item.name, by: chosen.score, beside: chosen.beside});
}

function drawHeading() {
  const right = item.label === item.prediction;
  fill(named("reader-title"), "document ", make("bdi", {}, item.name), ": predicted ",
    className(item.prediction), right ? ", correctly" : ", labelled ", right ? "" : className(item.label));
  const facts = [`${count(item.tokens.length)} items`];
  if (data.site) facts.push(`shown: ${data.site}`);
  for (const [key, name] of Object.entries(data.sorts))
    if (key !== "length" && item.keys[key] != null) facts.push(`${name} ${number(item.keys[key])}`);
  named("reader-facts").textContent = facts.join("; ");
  named("reader-query").hidden = !item.query;
  fill(named("reader-query"), make("b", {}, "question: "), make("bdi", {}, item.query ?? ""));
}

// The legend of underlines, where the document has any.
function drawLegend() {
  const marked = item.values.rationale?.filter((mark) => mark === 1).length ?? 0;
  named("reader-marks").hidden = marked === 0;
  fill(named("reader-marks"), make("span", {class: "marked"}, make("bdi", {}, "Underlined")),
    `: marked as the reason, ${count(marked)} of ${count(item.tokens.length)} items`);
}

export function show(document_) {
  named("copied").textContent = "";
  item = opened(document_);
  drawHeading();
  drawLegend();
  drawMenus();
  drawPair();
  drawGrid(item, names);
  openWhatIf(item);
}

export function shade(score) {
  for (const radio of named("scores").querySelectorAll("input")) radio.checked = radio.value === score;
  named("another").value = USUAL.includes(score) ? "" : score;
  chosen.score = score;
  if (item) drawPair();
}

export function putBeside(score) {
  chosen.beside = score;
  named("beside").value = score;
  if (item) drawPair();
}

export const scoreOrder = Object.keys(names);

function fillScoreControls() {
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

fillScoreControls();
shade(chosen.score);
function choose(change) {
  change();
  keepAddress();
}

named("another").addEventListener("change", (event) => choose(() => shade(event.target.value || "attention")));
named("scores").addEventListener("change", (event) => choose(() => shade(event.target.value)));
named("beside").addEventListener("change", (event) => choose(() => putBeside(event.target.value)));
named("numbers").addEventListener("change", (event) =>
  named("reader").classList.toggle("numbered", event.target.checked));
named("copy").addEventListener("click", () => {
  keepAddress();
  copyAddress((text) => { named("copied").textContent = text; });
});
