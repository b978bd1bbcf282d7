"""Formulas that recompute an effect from the rows of `summary.csv`.

A formula is arithmetic on terms such as `mean(max_jsd[eps=0.01])`: the value of that statistic of
that quantity in that group, for the class `all` and the probe of the claim. Without brackets the
group is empty. `[*]` takes the mean over all groups.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import polars as pl

TERM = re.compile(r"(?P<statistic>\w+)\((?P<quantity>\w+)(?:\[(?P<group>[^\]]*)\])?\)")
OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FUNCTIONS: Mapping[str, Callable[[Sequence[float]], float]] = {"max": max, "min": min}


def recompute(formula: str, summary: pl.DataFrame, probe: str) -> float:
    """The value of a formula, from the summary of a run."""
    own = summary.filter(pl.col("probe") == probe, pl.col("class") == "all")
    numbers = TERM.sub(lambda term: repr(_value(own, term)), formula)
    return _evaluate(ast.parse(numbers, mode="eval").body)


def _value(summary: pl.DataFrame, term: re.Match[str]) -> float:
    rows = summary.filter(
        pl.col("statistic") == term["statistic"], pl.col("quantity") == term["quantity"]
    )
    if term["group"] is None:
        rows = rows.filter(pl.col("group").is_null())
    elif term["group"] != "*":
        rows = rows.filter(pl.col("group") == term["group"])
    if rows.is_empty():
        raise LookupError(f"the summary has no row for {term[0]}")
    return fmean(rows["value"].to_list())


def _evaluate(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=float() | int() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_evaluate(inner)
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATIONS[type(op)](_evaluate(left), _evaluate(right))
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name]([_evaluate(each) for each in args])
    raise ValueError(f"a formula cannot contain {ast.unparse(node)}")
