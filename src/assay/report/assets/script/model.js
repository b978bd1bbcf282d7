// The model's prediction from other weights, which the page can compute for an affine head.
//
// Logits are the bias plus the sum of weight times token logits. A single logit goes through a
// sigmoid and belongs to the second of two classes; several go through a softmax.

const CLOSE = -0.5; // (p - q) / (p + q) above which log1p keeps digits that log would lose

export function logits({logits: terms, bias}, weights) {
  const sums = Float64Array.from(bias);
  const classes = sums.length;
  for (let item = 0; item < weights.length; item += 1)
    for (let kind = 0; kind < classes; kind += 1)
      sums[kind] += weights[item] * terms[item * classes + kind];
  return sums;
}

export function probabilities(scores) {
  const all = scores.length === 1 ? [0, scores[0]] : Array.from(scores);
  const highest = Math.max(...all);
  const shares = all.map((score) => Math.exp(score - highest));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

// Total variation distance: half the sum of the differences.
export function tvd(p, q) {
  return p.reduce((sum, share, place) => sum + Math.abs(share - q[place]), 0) / 2;
}

function againstMean(p, q) {
  if (p === 0) return 0;
  const lean = (p - q) / (p + q);
  return p * (lean > CLOSE ? Math.log1p(lean) : Math.log((2 * p) / (p + q)));
}

// Jensen-Shannon divergence in nats, 0 to ln 2.
export function jsd(p, q) {
  const sum = p.reduce((all, share, place) =>
    all + againstMean(share, q[place]) + againstMean(q[place], share), 0);
  return Math.max(0, sum / 2);
}
