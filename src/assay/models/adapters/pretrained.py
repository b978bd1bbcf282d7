"""Pretrained models and their tokenizers, read from a folder or from the Hugging Face Hub.

Nothing is downloaded unless asked, nothing is unpickled, and no code of a model is run that is not
part of `transformers`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from torch import nn

from assay.errors import UserError
from assay.models.adapters.attention_interface import NEEDS_TRANSFORMERS
from assay.models.adapters.peft_adapters import load_adapted

try:
    from huggingface_hub import snapshot_download
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        AutoModelForSequenceClassification,
        AutoTokenizer,
        PreTrainedTokenizerFast,
    )
    from transformers.utils import logging as transformers_logging
    from transformers.utils.peft_utils import find_adapter_config_file
except ImportError as fault:
    raise UserError(NEEDS_TRANSFORMERS) from fault

Kind = Literal["classifier", "language model"]
CLASSES: dict[Kind, Any] = {
    "classifier": AutoModelForSequenceClassification,
    "language model": AutoModelForCausalLM,
}
UNFINISHED: dict[Kind, str] = {
    "classifier": "it is not a finished classifier. Fine-tune it on your task and save it first.",
    "language model": "it was not saved as a language model. Save it with its language-model head.",
}
SAFE_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
# Letters that no alphabet of residues has: a slow tokenizer joins neighbors to one unknown word.
UNKNOWN = "Ωψ"
LENGTH_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len")
LONGEST = 100_000  # a tokenizer without a limit names a far larger number


def load_pretrained(name: str, kind: Kind, *, download: bool) -> tuple[Any, Any]:
    """The model and its tokenizer, in eval mode and without gradients of its parameters."""
    where: dict[str, Any] = {"local_files_only": not download, "trust_remote_code": False}
    with _cannot_load(name, kind, download), _bars(shown=download):
        folder = _adapter_folder(name, download)
        if folder is None:
            network, missing = _read_model(name, kind, where)
            source = name
        else:
            network = load_adapted(folder, kind, partial(_read_base, folder, kind, where))
            missing, source = set(), _tokenizer_source(folder, network)
        tokenizer = with_offsets(AutoTokenizer.from_pretrained(source, **where))
    if missing:
        raise UserError(
            f"'{name}' has no trained weights for {', '.join(sorted(missing))}: "
            f"{UNFINISHED[kind]}{_other_kind_hint(name, kind, where)}"
        )
    return network.eval().requires_grad_(False), tokenizer


def _other_kind_hint(name: str, kind: Kind, where: Mapping[str, Any]) -> str:
    saved = " ".join(AutoConfig.from_pretrained(name, **where).architectures or ())
    if kind == "classifier" and ("CausalLM" in saved or "LMHead" in saved):
        return " Or ask the language model for a word: lm:FOLDER, `assay.language_model`."
    if kind == "language model" and "SequenceClassification" in saved:
        return " Or attach it as the classifier that it is: hf:FOLDER, `assay.huggingface`."
    return ""


@contextmanager
def _cannot_load(name: str, kind: Kind, download: bool) -> Iterator[None]:
    """Say what is wrong with a name, and the cure."""
    try:
        yield
    except (OSError, ValueError) as error:
        cure = (
            "Check the name and your connection."
            if download
            else "Give a folder written by `save_pretrained` (config.json, model.safetensors, "
            "tokenizer.json), or allow the download of a model on the Hugging Face Hub with "
            "`download=True` (`--download` on the command line)."
        )
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        if not download and not Path(name).exists():
            first = "there is no such folder, and no model of that name was downloaded before."
        raise UserError(f"'{name}' cannot be loaded as a {kind}: {first} {cure}") from error


def _read_model(
    name: str, kind: Kind, where: Mapping[str, Any], **options: Any
) -> tuple[Any, set[str]]:
    """The model, and the names of weights that were not found."""
    AutoConfig.from_pretrained(name, **where)
    network, info = CLASSES[kind].from_pretrained(
        name, use_safetensors=True, output_loading_info=True, **where, **options
    )
    return network, set(info["missing_keys"])


def _read_base(
    adapter: Path, kind: Kind, where: Mapping[str, Any], name: str, **options: Any
) -> tuple[Any, set[str]]:
    """The base model of an adapter, with the classes that a config beside the adapter names."""
    if (adapter / "config.json").exists():
        options["config"] = AutoConfig.from_pretrained(adapter, local_files_only=True)
    return _read_model(name, kind, where, **options)


def _adapter_folder(name: str, download: bool) -> Path | None:
    """The folder of an adapter of PEFT; None if the name is that of a whole model."""
    found = find_adapter_config_file(name, local_files_only=not download)
    if found is None or Path(name).is_dir():
        return None if found is None else Path(name)
    return Path(snapshot_download(name, local_files_only=not download, allow_patterns=SAFE_FILES))


def _tokenizer_source(adapter: Path, network: Any) -> str:
    """Where the tokenizer stands: beside the adapter, or with the base model."""
    if any((adapter / file).exists() for file in TOKENIZER_FILES):
        return str(adapter)
    return str(network.active_peft_config.base_model_name_or_path)


def with_offsets(tokenizer: Any) -> Any:
    """A fast tokenizer in place of a slow one that reads letter by letter; others as they are."""
    fast = None if getattr(tokenizer, "is_fast", False) else _letter_tokenizer(tokenizer)
    if fast is None:
        return tokenizer
    special = {name: str(token) for name, token in tokenizer.special_tokens_map.items()}
    create: Any = PreTrainedTokenizerFast  # it has no types
    return create(tokenizer_object=fast, model_max_length=tokenizer.model_max_length, **special)


def _letter_tokenizer(slow: Any) -> Any:
    """A tokenizer with offsets and the ids of a slow one; None if it does not read letters.

    It is used only if both give the same ids for all letters, and for letters that are unknown.
    """
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

    letters = sorted(word for word in slow.get_vocab() if len(word) == 1)
    if not letters or slow.unk_token is None:
        return None
    fast = Tokenizer(models.WordLevel(slow.get_vocab(), unk_token=slow.unk_token))
    known = "".join(f"\\x{{{ord(letter):x}}}" for letter in letters)
    cut = pre_tokenizers.Split(Regex(f"[{known}]|[^{known}]+"), "isolated")
    fast.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), cut])
    names = slow.convert_ids_to_tokens(slow(letters[0])["input_ids"])
    place = names.index(letters[0])
    special = {name: slow.convert_tokens_to_ids(name) for name in names if name != letters[0]}
    fast.post_processor = processors.TemplateProcessing(
        single=" ".join([*names[:place], "$A", *names[place + 1 :]]),
        special_tokens=[*special.items()],
    )
    tried = ("".join(letters), " ".join(letters), letters[0] + UNKNOWN + letters[-1])
    same = all(slow(text)["input_ids"] == fast.encode(text).ids for text in tried)
    return fast if same else None


@contextmanager
def _bars(shown: bool) -> Iterator[None]:
    """Leave out the bars of `transformers`, unless they are for a download, and its warnings.

    What is missing or cannot be read is an error of ours, and the model is proved afterwards.
    """
    bars: Any = transformers_logging  # its functions have no types
    before, level = bars.is_progress_bar_enabled(), bars.get_verbosity()
    bars.set_verbosity_error()
    if not shown:
        bars.disable_progress_bar()
    try:
        yield
    finally:
        bars.set_verbosity(level)
        if before:
            bars.enable_progress_bar()


def padding_id(network: Any, tokenizer: Any) -> int:
    """The id of padding. A decoder finds the end of a document by it."""
    config = network.config.get_text_config()
    known = (config.pad_token_id, tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
    pad = int(next(one for one in known if one is not None))
    if config.pad_token_id is None:
        config.pad_token_id = pad
    return pad


def longest_input(network: Any, tokenizer: Any) -> int:
    """The number of positions that both the model and its tokenizer take."""
    found = [tokenizer.model_max_length]
    text = network.config.get_text_config()
    sizes = [getattr(text, name, None) for name in LENGTH_NAMES]
    size = next((one for one in sizes if isinstance(one, int) and one > 0), None)
    if size is not None:
        found.append(size - _first_position(network, size))
    return int(min(*found, LONGEST))


def _first_position(network: nn.Module, size: int) -> int:
    """Where the table of positions begins: RoBERTa and its relatives count after padding's id."""
    for name, part in network.named_modules():
        if isinstance(part, nn.Embedding) and "position" in name and part.num_embeddings == size:
            return 0 if part.padding_idx is None else part.padding_idx + 1
    return 0
