"""Closed forms and bounds: how far attention weights can move, and what erasing them changes.

Jain & Wallace 2019, section 4.2.2, ask how far other weights can be from the original ones, in JSD,
while the prediction moves at most eps, in TVD. They search by gradient steps. If the logits are
affine in the weights, the answer for two classes is exact, and for more classes it is a certified
bracket:

- `two_classes`: the exact optimum for two classes;
- `slab`: its geometry, the best weights on one or two items that keep a logit within two bounds;
- `diverse`: several weights for two classes, far from the original ones and from each other;
- `several_classes`: the bracket for three or more classes, whose ends come from `lower_bound`
  (feasible weights, improved by `ascent`) and from `upper_bound`;
- `branch_and_bound` and `sequential_programs`: better ends where that bracket is wide, both by
  `linear_programs` over all weights that keep the prediction;
- `constraints`: documents with bounds on their predictions, as those modules share them;
- `search`: the published search, for heads of any kind;
- `numerics`: tolerances, checked arguments, and the JSD as a sum of overlaps.

Serrano & Smith 2019, sections 4 and 5, erase weights and renormalize the rest. For affine logits
every erasure is a quotient of sums:

- `erasure`: logits after erasures, and the number of items at which the decision changes;
- `lightest_sets`: the lightest of the smallest sets of items that change the decision;
- `erasure_measures`: the smallest set of items that changes the decision, and the curves of the
  decided probability (comprehensiveness, sufficiency, deletion, insertion).
"""
