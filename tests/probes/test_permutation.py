"""Does shuffling weights measure what it says?"""

import numpy as np
import torch

from assay.models.view import View
from assay.probes.permutation import PERMUTATIONS, measure, median_tvd
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.keyed_random import document_keys, permutations
from tests.builders.small_models import batch, network


def attention_of(view: View) -> np.ndarray:
    return view.weights.double().numpy()


def test_it_equals_one_permutation_at_a_time():
    """The plain loop: per document, per permutation, decode the states again."""
    for task in ("classification", "pair"):
        model = network(task, classes=3)
        view = View(model, batch([2, 6, 5], pair=task == "pair", classes=3), seed=4)
        weights = attention_of(view)
        orders = permutations(document_keys(view.batch.ids, 4, "permutation"), view.mask, 100)
        medians = []
        for row in range(3):
            moved = []
            for order in orders[row]:
                proposal = torch.from_numpy(weights[row][order])[None]
                states = model.encode(view.batch.rows(slice(row, row + 1)))
                p = class_probabilities(model.decode(states, proposal).double())
                moved.append(tvd(p, view.probabilities[row : row + 1]).item())
            medians.append(np.median(moved))
        np.testing.assert_allclose(median_tvd(view, weights), medians, atol=1e-12)


def test_uniform_weights_and_equal_states_change_nothing():
    view = View(network(), batch([2, 6, 5]))
    uniform = view.mask / view.mask.sum(1, keepdims=True)
    base = class_probabilities(view.decode(torch.from_numpy(uniform)))
    view.__dict__["probabilities"] = base
    assert median_tvd(view, uniform).max() < 1e-15

    equal = batch([4])
    equal.items[:] = 7
    bag = network(encoder="average")  # no context: equal words are equal states
    view = View(bag, equal)
    peaked = np.array([[0.7, 0.1, 0.1, 0.1]])
    view.__dict__["probabilities"] = class_probabilities(view.decode(torch.from_numpy(peaked)))
    assert median_tvd(view, peaked).max() < 1e-15


def test_a_document_does_not_depend_on_its_batch():
    model, documents = network(), batch([2, 9, 5])
    together = median_tvd(View(model, documents), attention_of(View(model, documents)))
    alone = View(model, documents.rows(slice(2, 3)))
    np.testing.assert_allclose(median_tvd(alone, attention_of(alone)), together[2:], atol=1e-12)


def test_rows_carry_the_names_of_the_design():
    view = View(network(), batch([3, 4]))
    frames = measure(view, {"attention": attention_of(view)}).rows
    assert [frame["quantity"][0] for frame in frames] == ["median_tvd", "max_attention"]
    assert frames[1]["value"].to_list() == attention_of(view).max(1).tolist()
    assert PERMUTATIONS == 100
