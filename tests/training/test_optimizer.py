"""Tests of the optimizer: the numbers of torch's Adam, and no import of its compiler."""

import subprocess
import sys

import torch
from torch import nn

from assay.training.optimizer import EagerAdam

SETTINGS = {"lr": 1e-2, "weight_decay": 1e-3, "amsgrad": True, "fused": True}


def trained(kind: type[torch.optim.Adam]) -> list[torch.Tensor]:
    torch.manual_seed(0)
    layer = nn.Linear(5, 3)
    groups = [
        {"params": [layer.weight]},
        {"params": [layer.bias], "weight_decay": 0.0},
    ]
    optimizer = kind(groups, **SETTINGS)
    for step in range(4):
        optimizer.zero_grad(set_to_none=True)
        (layer(torch.ones(2, 5) * step) ** 2).sum().backward()
        optimizer.step()
    return [parameter.detach() for parameter in layer.parameters()]


def test_the_parameters_are_those_of_torch():
    ours, theirs = trained(EagerAdam), trained(torch.optim.Adam)
    assert all(map(torch.equal, ours, theirs))


def test_training_does_not_import_the_compiler():
    code = (
        "import sys, torch\n"
        "from assay.training.optimizer import EagerAdam\n"
        "weight = torch.ones(3, requires_grad=True)\n"
        "optimizer = EagerAdam([weight], fused=True)\n"
        "optimizer.zero_grad()\n"
        "(weight**2).sum().backward()\n"
        "optimizer.step()\n"
        "assert weight.grad is not None\n"
        "sys.exit('torch._dynamo' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
