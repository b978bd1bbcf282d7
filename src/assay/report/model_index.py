"""The effects of all tested claims in the format of the Hugging Face Hub: a `model-index`.

The Hub reads it from the YAML at the top of a model card. Every claim is a metric of its own, with
its interval, finding and thresholds: there is no overall score.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from assay.config import VERSION
from assay.data.files import write_text
from assay.runs.directory import ClaimFinding, read_verdict
from assay.runs.manifest import Manifest

INDEX_FILE = "model-index.yml"
TASK = {"type": "text-classification", "name": "attention weights as explanations"}
METRIC = "attention-claim-effect"
DIGITS = 6


def write_model_index(run_dir: Path) -> Path:
    """Write `model-index.yml` into a run directory."""
    index = model_index(Manifest.read(run_dir), read_verdict(run_dir))
    path = run_dir / INDEX_FILE
    write_text(path, "\n".join(yaml_lines(index)) + "\n")
    return path


def model_index(manifest: Manifest, verdict: Sequence[ClaimFinding]) -> dict[str, Any]:
    """The metadata, as the Hub documents it; claims without an effect are left out."""
    corpus = manifest.corpus
    name = corpus.text("name") or "documents"
    dataset = {"type": name, "name": name, "split": "test"}
    fingerprint = corpus.text("fingerprint")
    args = {"args": {"fingerprint": fingerprint}} if fingerprint else {}
    metrics = [_metric(claim) for claim in verdict if claim.effect is not None]
    results = [{"task": dict(TASK), "dataset": {**dataset, **args}, "metrics": metrics}]
    return {"model-index": [{"name": _model_name(manifest), "results": results}]}


def _metric(claim: ClaimFinding) -> dict[str, Any]:
    args = {
        "claim": claim.says,
        "finding": claim.finding,
        "low": _rounded(claim.low),
        "high": _rounded(claim.high),
        "level": _rounded(claim.level),
        "supported_above": claim.supported_above,
        "contradicted_below": claim.contradicted_below,
        "unit": claim.unit,
        "documents": claim.n,
        "models": claim.models,
        "source": f"assay {VERSION}",
    }
    return {
        "type": METRIC,
        "name": claim.claim,
        "value": _rounded(claim.effect),
        "args": {name: value for name, value in args.items() if value is not None},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _model_name(manifest: Manifest) -> str:
    """The name of the audited model without the folders that lead to it."""
    name = manifest.attached.text("name") or manifest.settings.text("encoder") or "model"
    return PurePosixPath(name.removeprefix("hf:").removeprefix("lm:")).name or name


def yaml_lines(value: Any, indent: str = "") -> Iterator[str]:
    """YAML of mappings, lists and plain values; texts are quoted as in JSON, which YAML reads."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            if isinstance(each, Mapping | list) and each:
                yield f"{indent}{name}:"
                yield from yaml_lines(each, indent + "  ")
            else:
                yield f"{indent}{name}: {_plain(each)}"
    elif isinstance(value, list):
        for each in value:
            first, *rest = yaml_lines(each, indent + "  ")
            yield f"{indent}- {first.removeprefix(indent + '  ')}"
            yield from rest
    else:
        yield f"{indent}{_plain(value)}"


def _plain(value: Any) -> str:
    """A text, number, truth value or null; characters that YAML takes for line ends are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
