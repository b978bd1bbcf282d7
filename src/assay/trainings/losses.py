"""What does a counterfeiter try to make small?"""

import torch
from torch import Tensor

from assay.batches import Batch
from assay.leaning import TINY
from assay.lessons import Looked
from assay.measures.divergence import class_probabilities, tvd
from assay.models import Network
from assay.training import Loss


def imitation_loss(base: Looked, weight: float) -> Loss:
    """Per document half the TVD to the base's prediction, minus `weight` times KL, summed.

    The half is the published one, to which all published weights belong.
    """
    place = {name: row for row, name in enumerate(base.ids)}
    predicted = torch.from_numpy(base.probabilities).float()
    logs = torch.from_numpy(base.attention).clamp_min(TINY).log().float()

    def loss(model: Network, batch: Batch) -> Tensor:
        rows = torch.tensor([place[name] for name in batch.ids])
        device, length = batch.mask.device, batch.mask.shape[1]
        states = model.encode(batch)
        attention = model.attend(states)
        probabilities = class_probabilities(model.decode(states, attention))
        apart = tvd(probabilities, predicted[rows].to(device)) / 2
        away = divergence(attention, logs[rows, :length].to(device), batch.mask)
        return (apart - weight * away).sum()

    return loss


def divergence(weights: Tensor, logs: Tensor, mask: Tensor) -> Tensor:
    """KL of weights from others given by their logarithms, over real items only; finite."""
    outcomes = weights * (weights.clamp_min(TINY).log() - logs)
    return outcomes.masked_fill(~mask, 0).sum(-1)
