"""Simulated coverage of the intervals over documents and models.

A 95 % interval must cover at least 92 % with three models and 93 % with more. Normal cells are
drawn from the exact distribution of their mean squares, so that 20,000 runs cost nothing; shares,
ratios and F1 are simulated document by document, 2,000 runs a cell.
"""

from itertools import combinations

import numpy as np
import pytest

from assay.statistics.estimates import f1_influence, pair_values
from assay.statistics.two_way import MeanSquares, half_width, mean_squares, variance

RUNS, TABLES = 20_000, 2_000
MODEL_SDS = (0.0, 0.005, 0.01, 0.02, 0.05)
AT_ONCE = 4_000_000  # values of a part of a cell


def least(models: int) -> float:
    return 0.92 if models == 3 else 0.93


def normal_cell(
    n: int, effects: np.ndarray, document_sd: float, residual_sd: float, level: float
) -> float:
    """The share of runs that cover 0, given each run's model effects (runs, models)."""
    rng = np.random.default_rng((n, effects.shape[1]))
    runs, models = effects.shape
    by_model = effects + rng.normal(0, residual_sd / np.sqrt(n), effects.shape)
    grand = by_model.mean(1) + rng.normal(0, document_sd / np.sqrt(n), runs)
    documents = models * document_sd**2 + residual_sd**2
    squares = MeanSquares(
        documents * rng.chisquare(n - 1, runs) / (n - 1),
        n * by_model.var(1, ddof=1),
        residual_sd**2 * rng.chisquare((n - 1) * (models - 1), runs) / ((n - 1) * (models - 1)),
    )
    half = half_width(variance(squares, n, models), n, models, level)
    return float((np.abs(grand) <= half).mean())


@pytest.mark.parametrize("n", [200, 2_000])
@pytest.mark.parametrize("models", [3, 4, 5, 10])
@pytest.mark.parametrize(("document_sd", "residual_sd"), [(0.2, 0.2), (0.05, 0.3), (0.0, 0.3)])
def test_normal_model_effects_are_covered(n, models, document_sd, residual_sd):
    rng = np.random.default_rng(models)
    for sd in MODEL_SDS:
        effects = rng.normal(0, sd, (RUNS, models))
        assert normal_cell(n, effects, document_sd, residual_sd, 0.95) >= least(models), sd
        # Holm compares the first of ten claims at 99.5 %.
        assert normal_cell(n, effects, document_sd, residual_sd, 0.995) >= 0.975, sd


@pytest.mark.parametrize("n", [200, 2_000])
def test_skewed_model_effects_are_covered_less(n, record_property):
    """Three exponential effects rarely show their tail: the shortfall is known and bounded."""
    rng = np.random.default_rng(0)
    found = {}
    for models in (3, 5, 10):
        effects = 0.05 * (rng.exponential(1, (RUNS, models)) - 1)
        found[models] = normal_cell(n, effects, 0.2, 0.2, 0.95)
    record_property("coverage", found)
    print(f"\nskewed model effects, {n} documents: {found}")
    assert min(found.values()) >= 0.87


def covered(tables: np.ndarray, truth: float) -> np.ndarray:
    """Whether the interval of each table (runs, N, S) covers the truth."""
    n, models = tables.shape[1:]
    half = half_width(variance(mean_squares(tables), n, models), n, models, 0.95)
    return np.asarray(np.abs(tables.mean((1, 2)) - truth) <= half)


def simulated(n: int, models: int, draw, truth: float) -> float:
    part = max(1, min(5 * TABLES, AT_ONCE // (n * models)))
    rng = np.random.default_rng((n, models))
    parts = [covered(draw(rng, part), truth) for _ in range(-(-TABLES // part))]
    return float(np.concatenate(parts).mean())


CELLS = [(200, 3), (200, 5), (2_000, 3)]


@pytest.mark.parametrize(("n", "models"), CELLS)
@pytest.mark.parametrize("sd", [0.0, 0.05])
def test_shares_are_covered(n, models, sd):
    def draw(rng: np.random.Generator, runs: int) -> np.ndarray:
        chance = 0.2 + 0.6 * rng.random((runs, n, 1)) + rng.normal(0, sd, (runs, 1, models))
        return (rng.random((runs, n, models)) < chance).astype(np.float64)

    assert simulated(n, models, draw, 0.5) >= least(models)


@pytest.mark.parametrize(("n", "models"), CELLS)
@pytest.mark.parametrize("sd", [0.0, 0.05])
def test_ratios_of_means_are_covered(n, models, sd):
    def draw(rng: np.random.Generator, runs: int) -> np.ndarray:
        below = rng.gamma(2, 0.25, (runs, n, 1)) * np.ones((1, 1, models))
        slope = 0.6 + rng.normal(0, sd, (runs, 1, models))
        above = slope * below + rng.normal(0, 0.2, (runs, n, models))
        bottom = below.mean((1, 2), keepdims=True)
        ratio = above.mean((1, 2), keepdims=True) / bottom
        return ratio + (above - ratio * below) / bottom

    assert simulated(n, models, draw, 0.6) >= least(models)


def linearized(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The values (runs, N, 1) of which `ratio_estimate` takes the mean, for many runs at once."""
    bottom = below.mean(1, keepdims=True)
    ratio = above.mean(1, keepdims=True) / bottom
    return (ratio + (above - ratio * below) / bottom)[..., None]


@pytest.mark.parametrize("n", [30, 150])
@pytest.mark.parametrize("effect", [0.4, 0.6])
def test_ratios_of_one_model_are_covered_and_not_more(n, effect):
    """At the thresholds of the claims: a wider interval than needed would decide less.

    `top` is a top item that flips or not, of which a random item would flip a share. `order` is the
    fraction erased in attention's order between the best order's and the mean of random ones'.
    """

    def top(rng: np.random.Generator, runs: int) -> np.ndarray:
        share = rng.beta(1, 6, (runs, n))
        hit = rng.random((runs, n)) < share + effect * (1 - share)
        return linearized(hit - share, 1 - share)

    def order(rng: np.random.Generator, runs: int) -> np.ndarray:
        best = rng.beta(2, 4, (runs, n))
        random = best + (1 - best) * rng.beta(4, 4, (runs, n))
        own = random - (random - best) * rng.beta(2 * effect, 2 - 2 * effect, (runs, n))
        return linearized(random - own, random - best)

    for draw in (top, order):
        assert 0.93 <= simulated(n, 1, draw, effect) <= 0.97


@pytest.mark.parametrize(("n", "models"), CELLS)
@pytest.mark.parametrize("sd", [0.0, 0.02])
def test_statistics_of_pairs_are_covered(n, models, sd):
    """Pairs that share a model share its effect; an effect of the pair itself comes on top."""
    pairs = list(combinations(range(models), 2))
    one, other = np.array(pairs).T

    def draw(rng: np.random.Generator, runs: int) -> np.ndarray:
        lean = rng.normal(0, sd, (runs, models))
        of_pair = lean[:, one] + lean[:, other] + rng.normal(0, sd / 2, (runs, len(pairs)))
        noise = rng.normal(0, 0.2, (runs, n, 1)) + rng.normal(0, 0.2, (runs, n, len(pairs)))
        tables = 0.5 + of_pair[:, None] + noise
        return np.stack([pair_values(table, pairs) for table in tables])

    assert simulated(n, models, draw, 0.5) >= least(models)


@pytest.mark.parametrize(("n", "models"), CELLS[:2])
@pytest.mark.parametrize("classes", [2, 3])
def test_differences_of_f1_are_covered(n, models, classes):
    """Two kinds of model, right in 85 % and 75 % of the documents on average."""
    sd = 0.03

    def predicted(rng: np.random.Generator, labels: np.ndarray, right: float) -> np.ndarray:
        shares = right + rng.normal(0, sd, (models, 1))
        hit = rng.random((models, n)) < shares
        return np.where(hit, labels, (labels + rng.integers(1, classes, (models, n))) % classes)

    def draw(rng: np.random.Generator, runs: int) -> np.ndarray:
        tables = np.empty((runs, n, models))
        scored = [1] if classes == 2 else [0, 1, 2]
        for run in range(runs):
            labels = rng.integers(0, classes, n)
            one, other = (predicted(rng, labels, right) for right in (0.85, 0.75))
            tables[run] = f1_influence(labels, one, scored) - f1_influence(labels, other, scored)
        return tables

    # With equally frequent classes and errors, F1 is the share of documents that are right.
    assert simulated(n, models, draw, 0.1) >= least(models)
