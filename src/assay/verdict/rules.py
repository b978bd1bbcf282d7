"""From where on is a claim supported, and below what is it contradicted?

Every threshold of the verdict stands here, and again in the sentence that uses it. They are
judgements, not yet held against models whose answer is known. RIVALS_AGREE_FROM is the weakest of
them: it was added after a run on `reviews` had come out "supported" with rivals that hardly agreed
themselves.
"""

import math

MAJORITY = 0.5
DRAWS = 2_000  # resamples of the documents, where an effect is a ratio of means

# agrees
AGREES_FROM = 0.8  # of the way from shuffled weights to the agreement of the two rivals
DISAGREES_BELOW = 0.5
AGREES_TAU = 0.4  # below it attention's own tau is too weak to support a claim

# needed, guides
NEEDED_F1 = 0.0  # attention must be worth something, by both intervals
DISPENSABLE_F1 = 0.01  # a gain that no table of the papers would print as one

# stable
STABLE_FROM = 0.8  # of the way from shuffled weights to the same weights
UNSTABLE_BELOW = 0.5

# depends
NOTICEABLE_TVD = 0.1  # a change of the prediction that a reader would notice
DOMINANT_WEIGHT = 0.5  # attention points at one item
ENOUGH_DOMINANT = 30  # documents; with fewer, all documents are used

# exclusive per instance
SAME_TVD = 0.01  # Jain & Wallace's eps: the prediction counts as the same
FAR_JSD = math.log(2) / 2  # weights count as very different from half of the largest JSD on

# exclusive per model: what a far counterfeit's predictions cost in TVD, above models of other seeds
NOTICED_TVD = 0.05

# top weight matters, order is efficient
ENOUGH_ERASED = 30  # documents; an interval over fewer is not to be trusted
TOP_MATTERS_FROM = 0.2  # share of documents flipped by the top item, above that of a random one
TOP_HARDLY_BELOW = 0.05
EFFICIENT_FROM = 0.8  # of the way from the random order to the best possible one
INEFFICIENT_BELOW = 0.5
SOON_BELOW = 0.5  # of the items; later is not soon, whatever the best order needs

# plausible
ENOUGH_MARKED = 30  # documents; an interval over fewer is not to be trusted
PLAUSIBLE_FROM = 0.7  # AUC; in seven of ten pairs the marked item stands higher, a coin gives five
IMPLAUSIBLE_BELOW = 0.6  # a reader would hardly tell it from a coin
