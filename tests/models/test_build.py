"""Tests of building models."""

import subprocess
import sys

import torch

from assay.data.vocabulary import Vocabulary
from assay.models.build import TrainedModel, build_model, load_model, save_model
from tests.builders.small_models import network


def test_initial_weights_depend_only_on_the_seed():
    config = network().config
    torch.manual_seed(1)
    first = build_model(config, 5)
    torch.manual_seed(2)
    second = build_model(config, 5)
    other = build_model(config, 6)
    same = [torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)]
    differ = [
        torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True)
    ]
    assert all(same)
    assert not all(differ)


def test_loading_a_model_gives_its_weights_and_does_not_import_the_compiler(tmp_path):
    model = build_model(network().config, 5)
    save_model(tmp_path, TrainedModel(model, Vocabulary.build([["good"]])))
    loaded = load_model(tmp_path).network.state_dict()
    assert loaded.keys() == model.state_dict().keys()
    assert all(torch.equal(loaded[name], value) for name, value in model.state_dict().items())
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from assay.models.build import load_model\n"
        f"load_model(Path({str(tmp_path)!r}))\n"
        "sys.exit('torch._dynamo' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
