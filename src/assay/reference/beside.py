"""Under which names does the file of published numbers hold what stands beside one of ours?"""

from dataclasses import replace

from assay.reference.declared import Grid, Measure, Part
from assay.reference.published import Numbers, Published

ADDITIVE = "additive"  # the attention of every layered model that was published


def spelt(encoder: str, attention: str) -> str:
    """A model as published.csv names it: `bilstm+dot`, and of the layered ones `han+rnn`."""
    if "-" in encoder and attention == ADDITIVE:
        return encoder.replace("-", "+")
    return f"{encoder}+{attention}"


def beside(
    numbers: Numbers, part: Part, grid: Grid, model: str, group: str, measure: Measure
) -> Published | None:
    """The number printed for this model and class; `of` names its corpus, if that is another."""
    place = measure.published or (group, measure.statistic or grid.score)
    corpus = grid.beside or grid.name
    found = numbers.find(part.published, corpus, measure.setting or model, *place)
    return None if found is None else replace(found, of=grid.beside)
