"""What the Python functions return: a trained model, and the audit of a model."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config import Settings
from assay.errors import UserError
from assay.models.build import TrainedModel, save_model
from assay.models.protocol import Model
from assay.report.charts import paper_figures
from assay.report.page import write_report as draw_report
from assay.runs.directory import read_run
from assay.runs.jobs import TrainJob
from assay.runs.results import Results
from assay.training.loop import Training

if TYPE_CHECKING:
    import pandas as pd

FRAME_HEIGHT = 640  # pixels, of the page inside a notebook


@dataclass(frozen=True)
class Fitted:
    """A trained model and the history of its training."""

    trained: TrainedModel
    training: Training
    settings: Settings
    task: TrainJob

    def __repr__(self) -> str:
        config = self.task.config
        best = self.training.epochs[self.training.best - 1]
        return (
            f"<Fitted {config.encoder} with {config.attention} attention on "
            f"{self.settings.corpus}: dev {self.training.metric} {best.dev:.3f} "
            f"after epoch {best.epoch}>"
        )


@dataclass(frozen=True, repr=False)
class Audit(Results):
    """Everything measured on one model: `evidence()`, `summary()`, `verdict()` and a page."""

    model: TrainedModel | Model

    def report(self, path: str | Path, *, without_text: bool = False) -> Path:
        """Write the report as one offline HTML file.

        With `without_text`, documents are shown by number and items by position, so that the page
        can be shared even if the documents cannot.
        """
        with self._folder(without_text) as folder:
            return draw_report(folder, Path(path))

    def save(self, folder: str | Path, *, without_text: bool = False) -> Path:
        """Write a run directory with the model, the tables and the report.

        With `without_text`, the model and all texts are left out.
        """
        place = Path(folder)
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise UserError(f"{place} exists and is not an empty folder: name a new one")
        place.mkdir(parents=True, exist_ok=True)
        self._write_all(place, without_text)
        draw_report(place)
        return place

    def figures(self) -> dict[str, Any]:
        """The figures of the report by name, as altair charts."""
        with self._folder() as folder:
            return {figure.name: figure.chart for figure in paper_figures(read_run(folder))}

    def to_pandas(self) -> "pd.DataFrame":
        """The evidence as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.evidence().to_dict(as_series=False))

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for claim in self.verdict():
            counts[claim["finding"]] = counts.get(claim["finding"], 0) + 1
        found = ", ".join(f"{number} {finding}" for finding, number in counts.items())
        return f"<Audit of {len(self.instances):,} documents: {found}>"

    def _repr_html_(self) -> str:
        """The report inside a notebook, in a frame of its own that cannot reach the notebook."""
        with self._folder() as folder:
            page = draw_report(folder, folder / "page.html").read_text(encoding="utf-8")
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{escape(page, quote=True)}" '
            f'style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
        )

    @contextmanager
    def _folder(self, without_text: bool = False) -> Iterator[Path]:
        """A run directory that is gone afterwards."""
        with tempfile.TemporaryDirectory() as name:
            self._write_all(Path(name), without_text)
            yield Path(name)

    def _write_all(self, folder: Path, without_text: bool = False) -> None:
        if without_text:
            self.without_text().write(folder)
            return
        if isinstance(self.model, TrainedModel):  # an attached model is the caller's to keep
            save_model(folder, self.model)
        self.write(folder)
