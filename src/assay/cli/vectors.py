"""`assay vectors`: train word vectors on the text of a corpus."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import WHOLE, LogJson, app, display


@app.command()
def vectors(
    corpus: Annotated[str, typer.Argument(help="A name from 'assay corpora'.")],
    out: Annotated[Path, typer.Option(help="The file to write; compressed if it ends in .gz.")],
    data: Annotated[
        Path | None, typer.Option(help="Folder or file of the corpus; or $ASSAY_DATA.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Documents over all splits, sampled with the seed.", **WHOLE)
    ] = None,
    kind: Annotated[str, typer.Option(help="skipgram or cbow.")] = "skipgram",
    dimension: Annotated[int, typer.Option(help="Dimension of the vectors.", **WHOLE)] = 300,
    window: Annotated[int, typer.Option(help="Context words on each side.", **WHOLE)] = 5,
    negatives: Annotated[int, typer.Option(help="Negative samples per word.", **WHOLE)] = 5,
    epochs: Annotated[int, typer.Option(help="Passes over the text.", **WHOLE)] = 5,
    min_count: Annotated[
        int, typer.Option(help="Words with fewer occurrences get no vector.", **WHOLE)
    ] = 5,
    seed: Annotated[int, typer.Option(help="For all random numbers.", **WHOLE)] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    log_json: LogJson = False,
) -> None:
    """Train word vectors on the training text of a corpus, for --vectors of other commands.

    Examples:
      assay vectors imdb --data DATA --out imdb.txt.gz
      assay vectors yelp --data DATA --kind cbow --dimension 200 --epochs 30 --out yelp.txt
    """
    from assay.data.catalog import load_corpus
    from assay.data.embeddings import VectorSettings, check_vector_settings, train_vectors

    shown = display(quiet, log_json)
    settings = VectorSettings(kind, dimension, window, negatives, epochs, min_count, seed)
    check_vector_settings(settings, out)
    loaded = load_corpus(corpus, data=data, limit=limit, seed=seed)
    words = train_vectors(loaded, settings, out, shown.track)
    if not quiet:
        typer.echo(f"Vectors: {out} ({words:,} words)")
