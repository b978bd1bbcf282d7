"""Adapters of PEFT, put on the model that they were trained for.

An adapter's folder holds the trained difference to a base model, which it names: LoRA matrices, a
prefix or virtual tokens, and for a classifier its head. How learned prompts are asked stands in
`assay.models.adapters.learned_prompt`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from assay.errors import UserError

WEIGHTS = "adapter_model.safetensors"
TASKS = {"classifier": "SEQ_CLS", "language model": "CAUSAL_LM"}
FORMS = {"classifier": "hf:", "language model": "lm:"}
# How the last matrix of a classifier is called: its rows are the classes.
HEADS = (".score.weight", ".classifier.weight", ".classifier.out_proj.weight")

ReadBase = Callable[..., tuple[Any, set[str]]]  # name, options -> model and what it lacks


def load_adapted(folder: Path, kind: str, read_base: ReadBase) -> Any:
    """The base model with the adapter of a folder around it."""
    try:
        from peft import PeftConfig, PeftModel
        from peft.utils import load_peft_weights
    except ImportError as fault:
        raise UserError(
            f"{folder} holds an adapter, which needs the library peft: "
            "pip install 'attn-assay[hf]'."
        ) from fault
    config: Any = PeftConfig.from_pretrained(str(folder))
    _check_task(folder, kind, config.task_type)
    if not (folder / WEIGHTS).exists():
        raise UserError(
            f"{folder} holds no {WEIGHTS}, and no other file is read, because it would be "
            "unpickled: save the adapter again with `save_pretrained`."
        )
    weights: Mapping[str, Tensor] = load_peft_weights(str(folder), device="cpu")
    options = _class_count(folder, weights) if kind == "classifier" else {}
    network, missing = read_base(str(config.base_model_name_or_path), **options)
    absent = sorted(key for key in missing if not any(name.endswith(key) for name in weights))
    if absent:
        raise UserError(
            f"neither {folder} nor its base model {config.base_model_name_or_path} has trained "
            f"weights for {', '.join(absent)}: train the adapter together with the head "
            "(`task_type`, or `modules_to_save`)."
        )
    return PeftModel.from_pretrained(network, str(folder))


def _check_task(folder: Path, kind: str, task: Any) -> None:
    name = str(getattr(task, "value", task))
    fitting = next((other for other, one in TASKS.items() if one == name), None)
    if task is not None and name != TASKS[kind]:
        cure = (
            f"attach a {TASKS[kind]} adapter"
            if fitting is None
            else f"pass {FORMS[fitting]}{folder}"
        )
        raise UserError(f"the adapter in {folder} is no {kind} (its task is {name}): {cure}.")


def _class_count(folder: Path, weights: Mapping[str, Tensor]) -> dict[str, int]:
    """The number of classes that the adapter's own head has, unless a config names them."""
    if (folder / "config.json").exists():
        return {}
    heads = [value for name, value in weights.items() if f".{name}".endswith(HEADS)]
    return {"num_labels": len(heads[0])} if heads else {}
