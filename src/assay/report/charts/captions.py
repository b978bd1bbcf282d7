"""The captions of the figures on the page, and which figure of a probe stands first.

A figure's name is that of its file; a number at its end counts the panels of one drawing. The
caption says how to read the drawing; its numbers stand in the figure's description.
"""

import re
from collections.abc import Mapping

PANEL = re.compile(r"_\d+$")
# The beginning of the names of the figures that a folded section shows; else its first drawing.
SHOWN_FIRST: Mapping[str, str] = {
    "words": "words_all",
    "agreement": "tau_",
    "permutation": "permutation_violins",
    "adversary": "adversary_histogram",
    "erase_one": "erase_one_points",
}
CAPTIONS: Mapping[str, str] = {
    "words_all": "Each point is a word; choose one to list its documents. At 1 a word has as much "
    "as if all words of its document had the same. Above the dashed line a word gets more "
    "attention than it has effect (over-read), below it less (under-read). Large points: frequent "
    "words.",
    "words_class": "The same over the documents of one predicted class.",
    "words_position": "From the beginning of the documents to their end.",
    "words_length": "The largest share that one word has, by the length of its document.",
    "words_frequency": "From rare words to frequent ones.",
    "tau_attention_gradient": "Documents by how well attention and gradient agree on the order of "
    "the items (Kendall’s τ: 1 same order, 0 no relation). Dashed: the median.",
    "tau_attention_leave_one_out": "The same for attention and leave-one-out.",
    "tau_gradient_leave_one_out": "For comparison: how well gradient and leave-one-out agree with "
    "each other.",
    "difference_leave_one_out": "For each document, how much better gradient and leave-one-out "
    "agree with each other than attention agrees with leave-one-out: to the right of zero they "
    "agree better. The band is the 95 % interval of the mean.",
    "difference_gradient": "The same, with attention’s agreement with the gradient.",
    "permutation_violins": "How far the prediction moves when the weights are shuffled, for "
    "documents of one predicted class. One line for each range of the document’s largest weight; "
    "the stroke is the median.",
    "permutation_points": "Each document as a point: its largest weight, and how far shuffling "
    "moves its prediction. A point opens its document.",
    "adversary_frontier": "How different the weights can become (mean largest JSD with its 95 % "
    "interval) as the prediction may move further. Straight dashed line: the largest possible.",
    "adversary_histogram": "Documents by how different the weights can be with the same "
    "prediction: 0 is the same heat map, 0.69 one that shares no item. Filled: the prediction "
    "moves by at most 0.01; outlined: by at most 0.05.",
    "adversary_violins": "The same by the document’s largest weight, for one predicted class. The "
    "stroke is the median.",
    "adversary_points": "Each document as a point: its largest weight, and how different the "
    "weights can be with the same prediction. A point opens its document.",
    "erase_one_points": "Each document as a point: how much more weight the top item had than a "
    "random one, and how much further the prediction moves without it. Below the dotted line the "
    "random item had the larger effect. A point opens its document.",
    "erase_one_negatives": "Only documents where the random item had the larger effect: how much "
    "more weight the top item had.",
    "erase_order_curves": "The share of documents whose decision has changed, as a growing part of "
    "the items is erased. A curve that rises early belongs to an order that knows what matters.",
    "erase_order_excess": "How many items each order erases beyond the smallest set that changes "
    "the decision.",
    "uniform_forest": "F1 on the test documents with attention and with equal weights. The dot is "
    "the mean, each stroke one model; an arrow means that an interval goes on beyond the plot.",
    "guide_forest": "F1 of a simpler model that reads items one by one, by the weights it is "
    "given. The dot is the mean, each stroke one model; an arrow means that an interval goes on "
    "beyond the plot.",
    "deception_forest": "F1 on the test documents of this model and of models that were trained to "
    "keep their weights away from the marked items. The dot is the mean, each stroke one model.",
    "seeds_violins": "Above: how different the weights become when the model is trained again. "
    "Below, for comparison: how different they can be with the same prediction.",
    "imitation_frontier": "Each mark is a model: to the right its attention differs more from this "
    "model’s (JSD), further up its predictions do (TVD). A look-alike far to the right and low "
    "down makes the same predictions with another heat map. A line joins look-alikes that were "
    "pushed away harder and harder (lambda).",
    "states_histogram": "Documents by how alike the states of their items are: at 1 all states "
    "point in the same direction, and the weights hardly matter. Dashed: the median.",
    "identifiable_histogram": "Documents by how different other weights can be that give exactly "
    "the same output of the attention. Dashed: the median.",
    "input_erasure_forest": "Erasing the first items of a score from the text: 0 moves the "
    "prediction as much as a random order, 1 as much as the best order found. Lines are 95 % "
    "intervals.",
    "substitute_forest": "How many documents are predicted correctly with the model’s own weights "
    "and with weights that know only single words. Lines are 95 % intervals.",
    "sinks_forest": "How much of the attention lies on special tokens and sinks, with 95 % "
    "intervals.",
    "heads_forest": "How far the prediction moves when the weights of one head are made equal, "
    "for the heads with the largest change. Lines are 95 % intervals.",
    "fresh_forest": "F1 of models that are trained and tested on some of the items alone. The dot "
    "is the mean, each stroke one model; an arrow means that an interval goes on beyond the plot.",
    "roar_curves": "Accuracy of models that are trained again, as more items are masked. A curve "
    "that falls sooner than the random one belongs to an order that knows what the task needs. "
    "Dotted: all items masked.",
    "sanity_forest": "How much of the order of the items a score keeps when all weights of the "
    "model are random. A score that explains what was learned stands near 0. Lines are 95 % "
    "intervals.",
    "masked_training_comprehensiveness": "Erasing the first items of a score from the text. "
    "Circles: the model itself; diamonds: models that were trained with masked texts, too.",
    "masked_training_sufficiency": "The same for keeping the first items alone.",
    "rationale": "How well each score finds the items that are marked as the reason, with "
    "95 % intervals. The dotted line is chance.",
}


def caption(name: str) -> str:
    """How to read a figure; empty for one that is not listed."""
    return CAPTIONS.get(PANEL.sub("", name), "")


def is_shown_first(name: str, probe: str, first: str) -> bool:
    """Whether a figure is visible while its section is folded; `first` is the probe's first."""
    return name.startswith(SHOWN_FIRST.get(probe, PANEL.sub("", first)))
