"""The proof before use: checks that a model is attached so that its attention can be measured.

    report = assay.check_model(model, documents)
    print(report)

A model on which interventions do nothing would be audited without complaint, and every number would
be wrong. An audit therefore makes the same checks first, and refuses if one fails.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.data.batches import Batch, EncodedSplit
from assay.data.corpus import Corpus
from assay.data.lists import corpus_from_lists
from assay.errors import UserError
from assay.models.adapters.attached_corpus import was_made_by
from assay.models.adapters.proof_material import Trial
from assay.models.adapters.proofs import CHECKS
from assay.models.conformance import check_interface
from assay.models.protocol import Model

if TYPE_CHECKING:
    from rich.table import Table

BATCH, BATCHES = 8, 2  # documents that the checks read
METHODS = "methods"
STOPPING = ("attention found",)  # without it nothing else can be checked


@dataclass(frozen=True)
class Check:
    """One check: what was seen, what was wanted, and what to do if they differ."""

    name: str
    passed: bool
    seen: str
    wanted: str = ""
    cure: str = ""

    def __str__(self) -> str:
        if self.passed:
            return f"passed  {self.name}: {self.seen}"
        return f"failed  {self.failure}"

    @property
    def failure(self) -> str:
        """The check, what was seen and wanted, and the cure, as sentences."""
        wanted = f"; wanted: {self.wanted}" if self.wanted else ""
        return f"{self.name}: {self.seen}{wanted}. {self.cure}".replace("..", ".").strip()


@dataclass(frozen=True)
class CheckReport:
    """All checks of a model. Printing it lists them, one per line."""

    model: str  # the name of its class, or of the class of the module inside
    documents: int  # that were read
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.passed)

    def __str__(self) -> str:
        return "\n".join([self._title(), *map(str, self.checks)])

    def __rich__(self) -> "Table":
        """The same as a table on a terminal; the text comes from the user's model."""
        from rich.table import Table
        from rich.text import Text

        table = Table("check", "", "seen", "wanted", title=self._title(), title_justify="left")
        for check in self.checks:
            mark = Text("passed", "green") if check.passed else Text("failed", "bold red")
            wanted = check.wanted if check.passed else f"{check.wanted}. {check.cure}".lstrip(". ")
            table.add_row(Text(check.name), mark, Text(check.seen), Text(wanted))
        return table

    def refuse(self) -> None:
        """Raise an error that names every failed check with its cure."""
        if self.failed:
            listed = "\n".join(f"- {check.failure}" for check in self.failed)
            raise UserError(
                f"{self.model} is not audited, because {len(self.failed)} of {len(self.checks)} "
                f"checks failed:\n{listed}"
            )

    def _title(self) -> str:
        counts = f"{len(self.checks) - len(self.failed)} of {len(self.checks)} checks passed"
        return f"{self.model}: {counts} on {self.documents} documents"


def check_model(model: object, documents: Corpus | Sequence[str | Sequence[str]]) -> CheckReport:
    """Check that a model is attached faithfully, on a few of the documents.

    The documents are a corpus, of which the test split is read, or texts or token lists. The report
    lists every check with what was seen and what was wanted; `report.passed` says whether all
    passed. An audit refuses a model with a failed check.
    """
    try:
        checked = check_interface(model)
    except UserError as error:
        failed = Check(METHODS, False, str(error))
        return CheckReport(type(model).__name__, 0, (failed,))
    return check_documents(checked, _corpus(checked, documents))


def check_documents(model: Model, corpus: Corpus, device: str = "cpu") -> CheckReport:
    """The report for documents that are in the form in which the model reads them."""
    batches = [batch.to(device) for batch in trial_batches(corpus)]
    count = sum(len(batch.ids) for batch in batches)
    name = type(getattr(model, "module", model)).__name__
    return CheckReport(name, count, tuple(check_attached(model, batches)))


def check_attached(model: Model, batches: Sequence[Batch]) -> list[Check]:
    """Every check that applies to the model, on the batch on which it does worst."""
    trials = [Trial(model, batch) for batch in batches]
    found = []
    for name in CHECKS:
        checks = list(_checks(name, trials))
        if checks:
            found.append(next((check for check in checks if not check.passed), checks[0]))
        if name in STOPPING and not found[-1].passed:
            break
    return found


def trial_batches(corpus: Corpus) -> list[Batch]:
    """A few documents of all lengths, the longest and the shortest among them."""
    if not corpus.test:
        raise UserError(
            f"the corpus {corpus.name} has no test documents: there is nothing to check."
        )
    split = EncodedSplit.of(corpus, corpus.test)
    order = np.argsort(split.lengths, kind="stable")
    places = np.linspace(0, len(order) - 1, min(len(order), BATCH * BATCHES)).round().astype(int)
    chosen = order[np.unique(places)]
    # Every second document, so that both batches have short and long ones.
    groups = [chosen] if len(chosen) <= BATCH else [chosen[0::2], chosen[1::2]]
    return [split.batch(group.tolist()) for group in groups]


def _checks(name: str, trials: Sequence[Trial]) -> Iterator[Check]:
    for trial in trials:
        try:
            outcome = CHECKS[name](trial)
        except UserError as error:  # the model's own refusal is what the check has seen
            yield Check(name, False, str(error))
        else:
            if outcome is not None:
                cure = "" if outcome.passed else outcome.cure
                yield Check(name, outcome.passed, outcome.seen, outcome.wanted, cure)


def _corpus(model: Model, documents: Corpus | Sequence[str | Sequence[str]]) -> Corpus:
    """The documents as the model reads them; labels play no part in a check."""
    own = getattr(model, "corpus", None)
    if isinstance(documents, Corpus):
        if not callable(own) or was_made_by(model, documents):
            return documents
        documents = [document.tokens for document in documents.test]
    if isinstance(documents, str):
        raise UserError("one text was passed: pass a list of documents, or a corpus.")
    labels = [model.classes[0]] * len(documents)
    if callable(own):
        read: Corpus = own(list(documents), labels)
        return read
    words = getattr(model, "words", None)
    return corpus_from_lists(documents, labels, classes=model.classes, words=words)
