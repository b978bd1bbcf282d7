"""The corpora that assay can read. Each is declared in a module and named below in one line."""

from assay.data.corpus import Source
from assay.data.sources import (
    adr,
    agnews,
    amazon,
    babi,
    cnn,
    deceptive_attention,
    eraser_movies,
    imdb,
    mimic,
    motif,
    news20,
    reviews,
    snli,
    sst,
    table,
    yahoo,
    yelp,
    yelp_hat,
)
from assay.plugins import registry

# The order in which `assay corpora` lists them.
_ALL: tuple[Source, ...] = (
    reviews.SOURCE,
    imdb.IMDB,
    sst.SOURCE,
    news20.SOURCE,
    agnews.SOURCE,
    adr.SOURCE,
    mimic.DIABETES,
    mimic.ANEMIA,
    babi.BABI1,
    babi.BABI2,
    babi.BABI3,
    motif.SOURCE,
    deceptive_attention.PRONOUN,
    deceptive_attention.SST_WIKI,
    eraser_movies.SOURCE,
    yelp_hat.SOURCE,
    snli.SOURCE,
    cnn.SOURCE,
    yelp.SOURCE,
    amazon.SOURCE,
    yahoo.SOURCE,
    imdb.IMDB10,
    imdb.IMDB_RATINGS,
    table.SOURCE,
)
SOURCES: dict[str, Source] = registry(_ALL, "assay.corpora", Source)
