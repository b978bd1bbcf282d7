// The what-if part: change the weights and see at once what the model would predict.

import {dial, drawBars, listenToDials, settle} from "./dials.js";
import {fill, fillWithWords, make, named} from "./elements.js";
import {jsd, logits, probabilities, tvd} from "./model.js";
import {number} from "./numbers.js";
import {className, comparisonTable, exact, likeliest} from "./outcome.js";
import {erased, shuffled, uniform, withOne} from "./weights.js";

const MOST_TRIES = 6; // in the trace
const NAMES = {shuffle: "shuffled", uniform: "equal weights", erase: "largest erased", adversary: "furthest weights",
  drag: "one weight set"};
const place = named("what-if");
const words = named("what-if-words");
const top = named("erase-count");
let now = null; // {item, own, weights, full}: the document, its prediction, the current weights
let trace = []; // {name, weights, winner, share}: what was tried on this document, the last first

function predictNow() {
  const shares = probabilities(logits(now.item.affine, now.weights));
  return [shares, likeliest(shares)];
}

// Items without weight that had some before.
function erasures() {
  const own = now.item.values.attention;
  return now.weights.filter((weight, index) => weight === 0 && own[index] > 0).length;
}

function drawOutcome() {
  const {item, own, weights} = now;
  const [shares, winner] = predictNow();
  const opening = winner === likeliest(own) ? "The prediction stays " : "The prediction becomes ";
  const gone = erasures();
  fill(named("what-if-result"), opening, make("b", {}, className(winner)), " ",
    exact(shares[winner]), ". It has moved by ", exact(tvd(own, shares)), " (TVD), the weights by ",
    exact(jsd(item.values.attention, weights)), " (JSD).",
    gone ? ` ${gone} of ${weights.length} items have no weight.` : "");
  fill(named("what-if-classes"), comparisonTable(own, shares));
}

function setWeights(weights, settled = true) {
  const own = now.item.values.attention;
  now.weights = weights;
  if (settled) {
    now.full = Math.max(...own, ...weights);
    named("what-if-full").textContent = number(now.full);
    settle(words, weights, own, now.full);
  }
  words.classList.toggle("own", weights === own);
  drawBars(words, weights, now.full);
  drawOutcome();
}

function keepTrace(name) {
  const [shares, winner] = predictNow();
  const repeated = name === "drag" && trace[0]?.name === "drag"; // one drag, many steps
  trace = [{name, weights: now.weights, winner, share: shares[winner]}, ...trace.slice(repeated ? 1 : 0)];
  trace = trace.slice(0, MOST_TRIES);
  drawTrace();
}

function drawTrace() {
  named("what-if-trace-part").hidden = trace.length === 0;
  fill(named("what-if-trace"), ...trace.map((one, index) => make("li", {},
    make("button", {type: "button", "data-trace": index}, `${NAMES[one.name]}: `, className(one.winner),
      ` ${number(one.share)}`))));
}

const tries = {
  shuffle: () => shuffled(now.weights),
  uniform: () => uniform(now.weights.length),
  erase: () => erased(now.weights, Math.max(1, Math.floor(Number(top.value)) || 1)),
  adversary: () => now.item.values.adversary ?? now.weights,
  reset: () => now.item.values.attention,
};

export function attempt(name) {
  if (!now) return;
  setWeights(tries[name]());
  if (name !== "reset") keepTrace(name);
}

export function openWhatIf(item) {
  now = null;
  trace = [];
  place.hidden = !item.affine;
  named("no-what-if").hidden = Boolean(item.affine);
  if (!item.affine) return;
  const own = probabilities(logits(item.affine, item.values.attention));
  now = {item, own, weights: item.values.attention, full: 1};
  fillWithWords(words, item.tokens.map(dial));
  top.max = Math.max(1, item.tokens.length - 1);
  place.querySelector("[data-try=adversary]").disabled = !item.values.adversary;
  attempt("reset");
  drawTrace();
}

listenToDials(words, {
  read: (index) => now.weights[index],
  full: () => now.full,
  set: (index, weight, settled) => {
    setWeights(withOne(now.weights, index, weight), settled);
    if (settled) keepTrace("drag");
  },
});
place.addEventListener("click", (event) => {
  const button = event.target.closest("[data-try]");
  if (button) attempt(button.dataset.try);
  const earlier = trace[event.target.closest("[data-trace]")?.dataset.trace];
  if (earlier) setWeights(earlier.weights);
});
