// The what-if part: change the weights and see at once what the model would predict.

import {dial, drawBars, listenToDials, settle} from "./dials.js";
import {fill, fillWithWords, make, named} from "./elements.js";
import {jsd, logits, probabilities, tvd} from "./model.js";
import {number} from "./numbers.js";
import {className, comparisonTable, exact, likeliest} from "./outcome.js";
import {erased, shuffled, uniform, withOne} from "./weights.js";

const place = named("what-if");
const words = named("what-if-words");
const top = named("erase-count");
let now = null; // {item, own, weights, full}: the document, its prediction, the current weights

function drawOutcome() {
  const {item, own, weights} = now;
  const shares = probabilities(logits(item.affine, weights));
  const winner = likeliest(shares);
  const opening = winner === likeliest(own) ? "The prediction stays " : "The prediction becomes ";
  fill(named("what-if-result"), opening, make("b", {}, className(winner)), " ",
    exact(shares[winner]), ". It has moved by TVD ", exact(tvd(own, shares)),
    ", the weights by JSD ", exact(jsd(item.values.attention, weights)), ".");
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

const tries = {
  shuffle: () => shuffled(now.weights),
  uniform: () => uniform(now.weights.length),
  erase: () => erased(now.weights, Math.max(1, Math.floor(Number(top.value)) || 1)),
  adversary: () => now.item.values.adversary ?? now.weights,
  reset: () => now.item.values.attention,
};

export function attempt(name) {
  if (now) setWeights(tries[name]());
}

export function openWhatIf(item) {
  now = null;
  place.hidden = !item.affine;
  named("no-what-if").hidden = Boolean(item.affine);
  if (!item.affine) return;
  const own = probabilities(logits(item.affine, item.values.attention));
  now = {item, own, weights: item.values.attention, full: 1};
  fillWithWords(words, item.tokens.map(dial));
  top.max = Math.max(1, item.tokens.length - 1);
  place.querySelector("[data-try=adversary]").disabled = !item.values.adversary;
  attempt("reset");
}

listenToDials(words, {
  read: (index) => now.weights[index],
  full: () => now.full,
  set: (index, weight, settled) => setWeights(withOne(now.weights, index, weight), settled),
});
place.addEventListener("click", (event) => {
  const button = event.target.closest("[data-try]");
  if (button) attempt(button.dataset.try);
});
