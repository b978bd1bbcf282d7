"""Which rating from 1 to 10 does a film review give?

The IMDB reviews of Diao et al. 2014: a JSON list of objects with `rating` and `review` (and
`title`, which is the film's and is not read). Reviews without a rating are dropped and counted.
The files name no splits: we cut a tenth for the test and a tenth of the rest for dev, near the
sizes of Serrano & Smith. Words as in `class_csv`: lower-cased, `min_df` 5.
"""

from collections.abc import Iterator
from typing import Any

from assay.corpora.class_csv import MIN_DF, class_name, review_words
from assay.corpora.json_list import read_json_list
from assay.corpora.needed import folder_of, needed_file
from assay.corpora.places import folder_with
from assay.corpora.source import Raw, Request, Source
from assay.errors import UserError

RATINGS = tuple(str(rating) for rating in range(1, 11))
FILES = ("imdb10.json", "data.json")


def _text_of(record: dict[str, Any], where: str) -> str:
    if "rating" not in record or not isinstance(review := record.get("review"), str):
        raise UserError(
            f"{where}: 'rating' and the text 'review' must be there; found "
            f"{', '.join(map(repr, record)) or 'nothing'}: use the published form."
        )
    return review


def _rating(given: object, where: str) -> str:
    whole = int(given) if isinstance(given, float) and given.is_integer() else given
    return class_name(str(whole), RATINGS, where)


def read(request: Request) -> Iterator[Raw]:
    """The rated reviews, in the order of the file."""
    path = needed_file(folder_of(request), *FILES)
    for number, record in enumerate(read_json_list(path), 1):
        where = f"{path}, review {number}"
        review = _text_of(record, where)
        if record["rating"] is None:
            request.dropped["no rating"] += 1
        else:
            yield Raw(f"review-{number}", review_words(review), _rating(record["rating"], where))


SOURCE = Source(
    name="imdb10",
    title="ratings of film reviews, 1 to 10",
    task="classification",
    size="122,000 / 13,500 reviews",
    licence="IMDb users' text; research use with citation (Diao et al. 2014)",
    reads="imdb10.json (or data.json): a JSON list of {rating, review, title}",
    get="Ask the authors of Diao et al. 2014 (JMARS); put the file in a folder imdb10.",
    read=read,
    locate=folder_with(FILES, folders=("imdb10",)),
    classes=RATINGS,
    min_df=MIN_DF,
    test_fraction=0.1,
    dev_fraction=0.1,
)
