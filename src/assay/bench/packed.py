"""How is the same model written plainly: one packed, bidirectional `nn.LSTM`?

This is the shape in which the papers' programs run it, and the baseline of our timings. It has
the weights of one of our networks, so that both must say the same.
"""

import math
from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from assay.models import Network
from assay.models.attention import Additive
from assay.models.heads import AffineHead
from assay.models.recurrent import BiLSTM
from assay.text import END, PAD, START


class PackedClassifier(nn.Module):
    """Embedding, bidirectional LSTM over packed texts, additive attention, affine head."""

    def __init__(self, twin: Network) -> None:
        super().__init__()
        encoder, attention, head = twin.text.encoder, twin.attention, twin.head
        assert isinstance(encoder, BiLSTM)
        assert isinstance(attention, Additive)
        assert isinstance(head, AffineHead)
        self.embedding = deepcopy(twin.text.embedding)
        # As the papers do: the markers are words like any other.
        self.embedding.weight.data[START] = twin.text.markers.data[0]
        self.embedding.weight.data[END] = twin.text.markers.data[1]
        self.lstm = _both_directions(encoder)
        self.inner = deepcopy(attention.items)
        self.direction = deepcopy(attention.direction)
        self.output = deepcopy(head.output)

    def forward(self, texts: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B, C) of framed texts (B, L), the longest first."""
        states = self.read(self.embedding(texts), lengths)
        return self.decode(states, self.attend(states, lengths))

    def read(self, embedded: Tensor, lengths: Tensor) -> Tensor:
        """States (B, L, m), those of the markers among them."""
        packed = pack_padded_sequence(embedded, lengths, batch_first=True)
        encoded, _ = self.lstm(packed)
        length = embedded.shape[1]
        states: Tensor = pad_packed_sequence(encoded, batch_first=True, total_length=length)[0]
        return states

    def attend(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Weights (B, L), nothing on the markers."""
        scores: Tensor = self.direction(torch.tanh(self.inner(states)))[..., 0]
        places = torch.arange(states.shape[1])
        real = (places > 0) & (places < lengths[:, None] - 1)
        # The second fill is for a text without items, which has no softmax.
        return scores.masked_fill(~real, -math.inf).softmax(1).masked_fill(~real, 0)

    def decode(self, states: Tensor, weights: Tensor) -> Tensor:
        logits: Tensor = self.output((weights[..., None] * states).sum(1))
        return logits


def frame(texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Texts with start and end, padded to the longest; and their lengths, markers included."""
    longest = max(len(text) for text in texts)
    rows = [[START, *text, END] + [PAD] * (longest - len(text)) for text in texts]
    return torch.tensor(rows), torch.tensor([len(text) + 2 for text in texts])


def _both_directions(encoder: BiLSTM) -> nn.LSTM:
    lstm = nn.LSTM(
        encoder.forwards.input_size,
        encoder.forwards.hidden_size,
        batch_first=True,
        bidirectional=True,
    )
    ahead, back = encoder.forwards.state_dict(), encoder.backwards.state_dict()
    lstm.load_state_dict(ahead | {f"{name}_reverse": value for name, value in back.items()})
    return lstm
