"""Test of the notebook: every cell runs, and its last cells show what the text around them says."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "own_model.ipynb"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each code cell printed, in their order."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = str(tmp_path_factory.mktemp("notebook"))
    NotebookClient(notebook, timeout=200, resources={"metadata": {"path": folder}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(one.get("text", "") for one in cell.outputs) for cell in cells]


@pytest.mark.slow
def test_the_notebook_attaches_proves_and_judges_a_model(printed):
    text = "\n".join(printed)
    assert float(re.search(r"accuracy on 100 other texts: (\S+)", text)[1]) > 0.9
    assert re.search(r"(\d+) of \1 checks passed on 16 documents", text)
    assert "<Audit of 100 documents" in text
    assert re.search(r"supported +The prediction depends on which items get the weight", text)
    assert re.search(r"not measured +A model trained again attends to the same items", text)


def test_the_notebook_is_stored_without_outputs_and_its_model_is_short():
    cells = [c for c in nbformat.read(NOTEBOOK, as_version=4).cells if c.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
    model = next(cell.source for cell in cells if "class Reader" in cell.source)
    assert len(model.splitlines()) <= 30
