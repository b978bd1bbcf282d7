"""`assay vectors`: word vectors from a corpus's own text."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import WHOLE, app, console


@app.command()
def vectors(
    corpus: Annotated[str, typer.Argument(help="A name from 'assay corpora'.")],
    out: Annotated[Path, typer.Option(help="The file; packed if it ends in .gz.")],
    data: Annotated[Path | None, typer.Option(help="The corpus's files; or $ASSAY_DATA.")] = None,
    limit: Annotated[
        int | None, typer.Option(help="Documents over all splits, drawn by the seed.", **WHOLE)
    ] = None,
    kind: Annotated[str, typer.Option(help="skipgram or cbow.")] = "skipgram",
    dimension: Annotated[int, typer.Option(help="Numbers per word.", **WHOLE)] = 300,
    window: Annotated[int, typer.Option(help="Words to each side.", **WHOLE)] = 5,
    negatives: Annotated[int, typer.Option(help="Drawn per word.", **WHOLE)] = 5,
    epochs: Annotated[int, typer.Option(help="Passes over the text.", **WHOLE)] = 5,
    min_count: Annotated[int, typer.Option(help="Rarer words get no vector.", **WHOLE)] = 5,
    seed: Annotated[int, typer.Option(help="For all draws.", **WHOLE)] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Train word vectors on a corpus's training text, for --vectors of other commands.

    Examples:
      assay vectors imdb --data DATA --out imdb.txt.gz
      assay vectors yelp --data DATA --kind cbow --dimension 200 --epochs 30 --out yelp.txt
    """
    from assay.data.catalog import load_corpus
    from assay.data.embeddings import VectorSettings, check_vector_settings, train_vectors
    from assay.progress import progress_tracker

    asked = VectorSettings(kind, dimension, window, negatives, epochs, min_count, seed)
    check_vector_settings(asked, out)
    loaded = load_corpus(corpus, data=data, limit=limit, seed=seed)
    words = train_vectors(loaded, asked, out, progress_tracker(console, quiet))
    if not quiet:
        typer.echo(f"Vectors: {out} ({words:,} words)")
