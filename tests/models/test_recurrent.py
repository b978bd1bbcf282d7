"""Tests of the recurrent encoders against those of torch."""

import torch

from tests.builders.small_models import batch, network


def test_bilstm_equals_torch_on_packed_input():
    """As in the papers: a bidirectional LSTM over packed `<sos> ... <eos>`."""
    model, documents = network(), batch([2, 9, 5])
    side, encoder = model.text, model.text.encoder
    both = torch.nn.LSTM(12, 8, bidirectional=True, batch_first=True).double()
    both.load_state_dict(
        {
            **encoder.forwards.state_dict(),
            **{f"{name}_reverse": value for name, value in encoder.backwards.state_dict().items()},
        }
    )
    frame = side.frame(side.embed(documents.items), documents.mask)
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        frame.framed, frame.lengths + 2, batch_first=True, enforce_sorted=False
    )
    states, (last, _) = both(packed)
    unpacked, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    real = documents.mask
    torch.testing.assert_close(encoder(frame)[real], unpacked[:, 1:-1][real])
    torch.testing.assert_close(encoder.last(frame), torch.cat([last[0], last[1]], -1))
