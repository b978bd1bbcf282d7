// Weights that a reader can choose: lists that sum to one, computed from other such lists.

export function uniform(length) {
  return new Float64Array(length).fill(1 / length);
}

// Fisher-Yates shuffle: every order is equally likely.
export function shuffled(weights) {
  const mixed = Float64Array.from(weights);
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other], mixed[last]];
  }
  return mixed;
}

// Places by weight, largest first; equal weights in the order of the document.
export function ranked(weights) {
  return Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a] || a - b);
}

function proportional(weights, keep, mass) {
  const kept = weights.map((weight, place) => (keep(place) ? weight : 0));
  const total = kept.reduce((sum, weight) => sum + weight, 0);
  if (total > 0) return kept.map((weight) => (weight / total) * mass);
  const places = Array.from(weights.keys()).filter(keep); // nothing to scale: an equal share for all
  return kept.map((_, place) => (keep(place) ? mass / places.length : 0));
}

// Weights without the `most` largest; the others keep their proportions. One item always stays.
export function erased(weights, most) {
  const gone = new Set(ranked(weights).slice(0, Math.min(most, weights.length - 1)));
  return proportional(weights, (place) => !gone.has(place), 1);
}

// One weight set to a value; the others share the rest in their proportions.
export function withOne(weights, place, value) {
  if (weights.length === 1) return Float64Array.of(1);
  const weight = Math.min(1, Math.max(0, value));
  const others = proportional(weights, (other) => other !== place, 1 - weight);
  others[place] = weight;
  return others;
}
