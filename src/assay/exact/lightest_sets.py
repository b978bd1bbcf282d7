"""The lightest of all sets of k items without which a sum is negative.

Each row is one problem: among all sets of `size` items without which the *leads* of the other items
sum to less than zero (or to zero, where a tie is enough), find one of least weight.
`erasure_measures` asks this for the sets that change a decision with as few items as possible. It
is a knapsack problem with a fixed number of items.

The condition on the leads is priced (Lagrange): the cost of an item is its weight minus the price
times its lead, and the cheapest set for a price is found by one sort. Bisection finds the price at
which the cheapest set just meets the condition. This gives a set that meets it, and a lower bound
on the weight of all sets that do. A lighter set must differ from the cheapest one by items whose
extra costs sum to less than the gap between the two. The items that can take part, the *core*, are
few, and all their exchanges within the gap are enumerated, item by item, for all problems at once.
A problem with a larger core than the last of `CORES`, or with more than `MOST_NODES` partial
exchanges, keeps the best set found and is not proven.
"""

from dataclasses import dataclass, replace

import numpy as np

from assay.exact.numerics import Flags, Floats, Indices, document_chunks

HALVINGS = 30  # of the price
FEW_CORE = 12  # items in a core that need no further reduction
CORES = (24, 62)  # items exchanged in each round, at most one bit of an integer each
MOST_NODES = 8192  # partial exchanges per problem
BYTES_PER_PAIR = 8  # of items, for the tables of dominance
LONGEST_COMPARED = 1500  # items of a document whose pairs are compared
ROUNDING = 1e-13  # of costs, which are at most one


@dataclass(frozen=True)
class Problems:
    """One problem per row, over items (P, T)."""

    weights: Floats  # infinite at items that may not be chosen
    leads: Floats  # zero at those
    size: Indices  # (P,) at least 1, and less than the number of items
    tie_is_enough: Flags  # (P,)

    def rows(self, rows: Indices) -> "Problems":
        return Problems(
            self.weights[rows], self.leads[rows], self.size[rows], self.tie_is_enough[rows]
        )

    def met(self, members: Flags) -> Flags:
        """Which of the sets (P, T) meet the condition."""
        left = np.where(members, 0.0, self.leads).sum(1)
        met: Flags = (left < 0) | ((left == 0) & self.tie_is_enough)
        return met

    def mass(self, members: Flags) -> Floats:
        """The weight (P,) of the sets."""
        total: Floats = np.where(members, self.weights, 0.0).sum(1)
        return total


@dataclass(frozen=True)
class LightestSets:
    """The sets (P, T), and whether no lighter one exists."""

    members: Flags
    proven: Flags


@dataclass(frozen=True)
class _Priced:
    """The cheapest sets at the final price, and what a lighter set may cost more."""

    cheapest: Flags  # (P, T); it need not meet the condition
    extra: Floats  # (P, T) of exchanging each item: out if it is in the set, in if it is not
    gap: Floats  # (P,) the extra costs of a lighter set sum to less
    rate: Floats  # (P,) by which the gap shrinks per weight, when a lighter set is found


def lightest_sets(problems: Problems, start: Flags) -> LightestSets:
    """The lightest sets; `start` (P, T) are sets that meet the condition."""
    members, proven = start.copy(), np.ones(len(start), dtype=np.bool_)
    lightest = _first(np.argsort(problems.weights, axis=1, kind="stable"), problems.size)
    easy = problems.met(lightest)
    members[easy] = lightest[easy]
    hard = np.flatnonzero(~easy)
    if len(hard):
        own = problems.rows(hard)
        members[hard], priced = _bisect(own, start[hard])
        members[hard], proven[hard] = _exchange(own, priced, members[hard])
    return LightestSets(members, proven)


def _first(order: Indices, size: Indices) -> Flags:
    """The first `size` items of each order, as members."""
    members = np.zeros(order.shape, dtype=np.bool_)
    np.put_along_axis(members, order, np.arange(order.shape[1]) < size[:, None], axis=1)
    return members


def _bisect(problems: Problems, start: Flags) -> tuple[Flags, _Priced]:
    """The lightest set met on the way to the price, and the costs at that price.

    The price runs from 0 to infinity as theta / (1 - theta), in units that make the largest weight
    and the largest lead one, so that costs are (1 - theta) weight - theta lead.
    """
    possible = np.isfinite(problems.weights)
    heaviest = np.where(possible, problems.weights, 0).max(1, keepdims=True)
    weight = problems.weights / heaviest
    lead = problems.leads / np.abs(problems.leads).max(1, keepdims=True)
    best, least = start.copy(), np.where(start, weight, 0).sum(1)
    low, high = np.zeros(len(start)), np.ones(len(start))
    for _ in range(HALVINGS):
        theta = (low + high) / 2
        cost = _cost(weight, lead, theta)
        members = _first(np.argsort(cost, axis=1, kind="stable"), problems.size)
        met = problems.met(members)
        mass = np.where(members, weight, 0).sum(1)
        better = met & (mass < least)
        best[better], least[better] = members[better], mass[better]
        low, high = np.where(met, low, theta), np.where(met, theta, high)
    cost = _cost(weight, lead, theta)
    order = np.argsort(cost, axis=1, kind="stable")
    cheapest = _first(order, problems.size)
    last = np.take_along_axis(order, problems.size[:, None] - 1, axis=1)
    border = np.take_along_axis(cost, last, axis=1)
    extra = np.where(cheapest, border - cost, cost - border)
    # A set that meets the condition has leads of at least `total`, so its cost is at most
    # (1 - theta) mass - theta total; the cheapest set costs `floor`.
    floor, total = np.where(cheapest, cost, 0).sum(1), lead.sum(1)
    gap = (1 - theta) * least - theta * total - floor
    return best, _Priced(cheapest, extra, gap, (1 - theta) / heaviest[:, 0])


def _cost(weight: Floats, lead: Floats, theta: Floats) -> Floats:
    cost: Floats = (1 - theta)[:, None] * weight - theta[:, None] * lead
    return cost


@dataclass(frozen=True)
class _Core:
    """The items of each core, most costly exchange first, (R, W), and what exchanging them does."""

    items: Indices
    count: Indices  # (R,)
    extra: Floats
    left: Floats  # change of the leads that are left
    mass: Floats
    balance: Indices  # 1 if the item comes in, -1 if it goes out
    whole: Flags  # (R,) no item of the core is missing

    @classmethod
    def of(cls, problems: Problems, priced: _Priced, rows: Indices, most: int) -> "_Core":
        extra = priced.extra[rows]
        size = (extra < (priced.gap[rows] + ROUNDING)[:, None]).sum(1)
        count = np.minimum(size, most)
        width = max(1, count.max())
        items = np.argsort(extra, axis=1, kind="stable")[:, :width]
        # From the most costly to the least: the last `count` of these, from the end.
        places = np.maximum(count[:, None] - 1 - np.arange(width), 0)
        items = np.take_along_axis(items, places, axis=1)
        row, real = rows[:, None], np.arange(width) < count[:, None]
        sign = np.where(real, np.where(priced.cheapest[row, items], -1, 1), 0)
        weight = np.where(real, problems.weights[row, items], 0.0)
        lead = problems.leads[row, items]
        return cls(
            items,
            count,
            extra[np.arange(len(rows))[:, None], items],
            -sign * lead,
            sign * weight,
            sign,
            size <= most,
        )


@dataclass(frozen=True)
class _Nodes:
    """Partial exchanges, flat over all problems."""

    row: Indices
    left: Floats
    mass: Floats
    spent: Floats
    balance: Indices
    taken: Indices  # one bit per item of the core

    def where(self, chosen: Flags | Indices) -> "_Nodes":
        return _Nodes(*(part[chosen] for part in vars(self).values()))

    def exchanging(self, core: _Core, level: int) -> "_Nodes":
        """Each node with one more item exchanged."""
        at = self.row, level
        return _Nodes(
            self.row,
            self.left + core.left[at],
            self.mass + core.mass[at],
            self.spent + core.extra[at],
            self.balance + core.balance[at],
            self.taken | (1 << level),
        )

    def and_also(self, others: "_Nodes") -> "_Nodes":
        pairs = zip(vars(self).values(), vars(others).values(), strict=True)
        return _Nodes(*(np.concatenate(pair) for pair in pairs))


def _exchange(problems: Problems, priced: _Priced, best: Flags) -> tuple[Flags, Flags]:
    """The lightest sets within the gap, and which of them are proven.

    A first round exchanges only the cheapest items of a large core. A lighter set narrows the gap,
    so that fewer items are left for the second round.
    """
    priced = _without_dominated(problems, priced)
    best, proven = best.copy(), np.zeros(len(best), dtype=np.bool_)
    for most in CORES:
        rows = np.flatnonzero(~proven)
        if not len(rows):
            break
        own, core = problems.rows(rows), _Core.of(problems, priced, rows, most)
        taken, complete = _enumerate(own, core, priced, rows, own.mass(best[rows]))
        exchanged = np.zeros((len(rows), best.shape[1]), dtype=np.bool_)
        at, place = np.nonzero((taken[:, None] >> np.arange(core.items.shape[1])) & 1)
        exchanged[at, core.items[at, place]] = True
        found = priced.cheapest[rows] ^ exchanged
        # The sums of the enumeration are rounded, so what is kept is checked by itself.
        gain = np.where((taken > 0) & own.met(found), own.mass(best[rows]) - own.mass(found), 0.0)
        best[rows[gain > 0]] = found[gain > 0]
        priced.gap[rows] -= priced.rate[rows] * np.maximum(gain, 0.0)
        proven[rows] = complete & core.whole
    return best, proven


def _without_dominated(problems: Problems, priced: _Priced) -> _Priced:
    """The same without items that some lightest set does not exchange, where cores are large.

    An item dominates another if it is no heavier and has no smaller lead: exchanging the two in a
    set makes it no worse. So an item with as many dominators as the set has members need not come
    in, and an item that dominates as many as stay out need not go out.
    """
    extra = priced.extra.copy()
    large = (extra < (priced.gap + ROUNDING)[:, None]).sum(1) > FEW_CORE
    # By the number of items and not of places, so that padding changes nothing.
    large &= np.isfinite(problems.weights).sum(1) <= LONGEST_COMPARED
    length = extra.shape[1]
    indices = np.flatnonzero(large)
    for part in document_chunks(len(indices), length * length * BYTES_PER_PAIR):
        rows = indices[part]
        weight, lead = problems.weights[rows], problems.leads[rows]
        better = (weight[:, :, None] <= weight[:, None]) & (lead[:, :, None] >= lead[:, None])
        same = better & better.transpose(0, 2, 1)
        better &= ~same | np.triu(np.ones((length, length), dtype=np.bool_), 1)
        possible = np.isfinite(weight)
        out = possible.sum(1) - problems.size[rows]
        dominators = (better & possible[:, :, None]).sum(1)
        dominated = (better & possible[:, None]).sum(2)
        needless = np.where(
            priced.cheapest[rows],
            dominated >= out[:, None],
            dominators >= problems.size[rows, None],
        )
        extra[rows] = np.where(needless, np.inf, extra[rows])
    return replace(priced, extra=extra)


def _enumerate(
    problems: Problems, core: _Core, priced: _Priced, rows: Indices, least: Floats
) -> tuple[Indices, Flags]:
    """The items exchanged in the lightest set of each problem, as bits, and which are proven."""
    cheapest, gap, rate = priced.cheapest[rows], priced.gap[rows] + ROUNDING, priced.rate[rows]
    taken, complete = np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=np.bool_)
    none = np.zeros(len(rows), dtype=np.int64)
    left = np.where(cheapest, 0.0, problems.leads).sum(1)
    nodes = _Nodes(
        np.arange(len(rows)), left, problems.mass(cheapest), np.zeros(len(rows)), none, none
    )
    # What the items after each level can still do: bring in, take out, and lower what is left.
    ahead_in, ahead_out = (_after(core.balance == sign) for sign in (1, -1))
    ahead_left = _after(np.minimum(core.left, 0.0))
    slack = ROUNDING * np.abs(problems.leads).sum(1)
    for level in range(core.items.shape[1]):
        more = nodes.where(level < core.count[nodes.row]).exchanging(core, level)
        more = more.where(more.spent < gap[more.row])
        done = (more.balance == 0) & (more.mass < least[more.row])
        done &= (more.left < 0) | ((more.left == 0) & problems.tie_is_enough[more.row])
        found = more.where(done)
        found = found.where(np.lexsort((found.mass, found.row)))
        found = found.where(np.diff(found.row, prepend=-1) != 0)
        gap[found.row] -= rate[found.row] * (least[found.row] - found.mass)
        least[found.row], taken[found.row] = found.mass, found.taken
        nodes = nodes.and_also(more)
        row = nodes.row
        hopeful = (nodes.spent < gap[row]) & (nodes.balance <= ahead_out[row, level])
        hopeful &= -nodes.balance <= ahead_in[row, level]
        hopeful &= nodes.left + ahead_left[row, level] <= slack[row]
        crowded = np.bincount(row[hopeful], minlength=len(rows)) > MOST_NODES
        complete &= ~crowded
        nodes = nodes.where(hopeful & ~crowded[row])
    return taken, complete


def _after(values: Floats | Flags) -> Floats:
    """The sum over the items after each one, (R, W)."""
    sums: Floats = np.cumsum(values[:, ::-1], axis=1, dtype=np.float64)[:, ::-1]
    return sums - values
