"""From where on is a claim supported, and below what is it contradicted?

Every threshold of the verdict stands here, and again in the sentence that uses it. They are
judgements, held against models whose answer is known: `assay controls` prints those models'
effects, docs/controls.md shows them. "Controls" below says what they showed: first what effects
the model has whose attention is the reason, then the highest (or lowest) of those of whom the
claim is false. Where a threshold was changed for it, that is said.
"""

import math

# agrees
AGREES_FROM = 0.8  # of the way from shuffled weights to the agreement of the two rivals
DISAGREES_BELOW = 0.5  # controls: 1.1 against 0.4: the least room of all
# Attention's own tau, below which agreement is too weak to support a claim. It was the rivals' tau
# with each other until a control's attention, which is the reason, agreed better with leave-one-out
# than the gradient did. Controls: 0.7 against 0.1.
AGREES_TAU = 0.4
# needed, guides
NEEDED_F1 = 0.0  # attention must be worth something, by both intervals
# A gain that no table of the papers would print as one. Controls: 0.2 against 0.00. Of guides the
# gain by weights that have not seen the label counts too: of the control that hides its cue, the
# weights' shape told the label.
DISPENSABLE_F1 = 0.01
# stable
STABLE_FROM = 0.8  # of the way from shuffled weights to the same weights
UNSTABLE_BELOW = 0.5  # controls: 1.0 against -0.1
# depends; controls: 1.0 of the documents against 0.14
NOTICEABLE_TVD = 0.1  # a change of the prediction that a reader would notice
DOMINANT_WEIGHT = 0.5  # attention points at one item
ENOUGH_DOMINANT = 30  # documents; with fewer, all documents are used
# exclusive per instance; controls: 0.0 of the documents have far weights, against all of them
SAME_TVD = 0.01  # Jain & Wallace's eps: the prediction counts as the same
FAR_JSD = math.log(2) / 2  # weights count as very different from half of the largest JSD on
# exclusive per model: what a far counterfeit's predictions cost in TVD, above models of other
# seeds. It was zero until a control, whose seeds agree to the last digit, was "supported" by a few
# thousandths. Controls: 0.16 against 0.01.
NOTICED_TVD = 0.05
# top weight matters, order is efficient
ENOUGH_ERASED = 30  # documents; an interval over fewer is not to be trusted
TOP_MATTERS_FROM = 0.2  # share of documents flipped by the top item, above that of a random one
TOP_HARDLY_BELOW = 0.05  # controls: 0.85 against 0.01
EFFICIENT_FROM = 0.8  # of the way from the random order to the best possible one
INEFFICIENT_BELOW = 0.5  # controls: 0.96 against 0.95: it does not part them, the next does
# Of the items: later is not soon, whatever the best order needs. Controls: 13 % of the items must
# go, against 84 % and more.
SOON_BELOW = 0.5
# plausible
ENOUGH_MARKED = 30  # documents; an interval over fewer is not to be trusted
PLAUSIBLE_FROM = 0.7  # AUC; in seven of ten pairs the marked item stands higher, a coin gives five
# A reader would hardly tell it from a coin. Controls: 1.0 against 0.5.
IMPLAUSIBLE_BELOW = 0.6
