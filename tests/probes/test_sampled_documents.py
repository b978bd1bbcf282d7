"""Tests of the sample of documents for comparisons that are too costly for all."""

from assay.data.corpus import Document
from assay.probes.inputs import SAMPLED_DOCUMENTS, bind_inputs
from assay.scores.score import RunDocuments

LONG = [Document(f"long {i}", ("a", "b", "c"), 0) for i in range(200)]
SHORT = [Document(f"short {i}", ("a",), 0) for i in range(200)]


def sample(documents: list[Document], run: list[Document]) -> frozenset[str]:
    bound = bind_inputs({"sampled_documents": None}, documents, RunDocuments.of(run))
    return bound["sampled_documents"]


def test_documents_with_one_item_are_never_sampled():
    chosen = sample(LONG, LONG + SHORT)
    assert len(chosen) == SAMPLED_DOCUMENTS
    assert chosen <= {document.id for document in LONG}
    assert sample(SHORT, SHORT) == frozenset()


def test_every_job_and_every_order_gets_the_same_sample():
    assert sample(LONG[:3], LONG + SHORT) == sample(LONG, LONG)
    assert sample(LONG, LONG[::-1]) == sample(LONG, LONG)


def test_a_small_run_is_sampled_whole():
    assert sample(LONG[:20], LONG[:20]) == {document.id for document in LONG[:20]}
