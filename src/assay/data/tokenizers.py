"""The tokenizer of a table: how a text becomes items.

`words` splits into English words and punctuation marks. Chinese, Japanese, Thai and other scripts
are written without spaces, so a whole sentence would be one word: for them there is `characters`, a
function of the user's own, or the tokenizer of a Hugging Face model: `hf:` and its folder or name,
or the path of its file `tokenizer.json`. A name is looked up in the cache of downloaded models;
nothing is downloaded here.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from assay.data.text import words
from assay.errors import UserError
from assay.plugins import import_object

Tokenizer = Callable[[str], tuple[str, ...]]
# First and last code points of scripts that are written without spaces between words.
UNSPACED_SCRIPTS = (
    (0x0E00, 0x0EFF),  # Thai and Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Japanese kana
    (0x3400, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x20000, 0x3FFFF),  # Han, extensions
)
LONG_WORD = 5  # characters; words of these scripts are mostly shorter
TOO_MANY = 0.2  # of all items
HUGGING_FACE = "hf:"
TOKENIZER_FILE = "tokenizer.json"


def choose_tokenizer(name: str) -> Tokenizer:
    """The tokenizer with this name: `words`, `characters`, a function, a model or a file."""
    if name in TOKENIZERS:
        return TOKENIZERS[name]
    if name.startswith(HUGGING_FACE):
        return _tokenizer_of_file(_file_of_model(name), name)
    if name.endswith(".json"):
        return _tokenizer_of_file(Path(name), name)
    if ":" in name:
        return _own_function(name)
    raise UserError(
        f"there is no tokenizer '{name}': pass {', '.join(TOKENIZERS)}, package.module:function, "
        "hf:FOLDER or hf:NAME of a Hugging Face model, or its tokenizer.json."
    )


def characters(text: str) -> tuple[str, ...]:
    """Every character that is not a blank, lower-cased, with the marks that combine with it."""
    items: list[str] = []
    for character in text.lower():
        if items and unicodedata.combining(character):
            items[-1] += character
        elif not character.isspace():
            items.append(character)
    return tuple(items)


def split_at_blanks(text: str) -> tuple[str, ...]:
    """Whatever stands between blanks, lower-cased."""
    return tuple(text.lower().split())


TOKENIZERS: dict[str, Tokenizer] = {
    "words": words,
    "characters": characters,
    "blanks": split_at_blanks,
}


class UnspacedText:
    """Counts the items that look like several words of a script without spaces."""

    def __init__(self) -> None:
        self.documents = self.whole = self.items = self.long = 0
        self.example = ""

    def add(self, tokens: Sequence[str]) -> None:
        """Count the items of a document, and the documents that are one item."""
        self.documents += 1
        self.whole += len(tokens) == 1
        self.items += len(tokens)
        for token in tokens:
            if len(token) > LONG_WORD and not token.isascii() and _is_unspaced(token):
                self.long += 1
                self.example = self.example or token[:20]

    def warning(self) -> str | None:
        """The sentence for the user, if there are too many such items."""
        if self.long <= TOO_MANY * self.items:
            return None
        return (
            f"table: {self.long:,} of {self.items:,} items, such as '{self.example}', look like "
            "several words of a script without spaces: pass --tokenizer characters, or a tokenizer "
            "of that language (--tokenizer package.module:function)"
        )

    @property
    def mostly_whole(self) -> bool:
        """Whether most documents are a single item, so that they would be left out."""
        return 2 * self.whole > self.documents


def _is_unspaced(token: str) -> bool:
    return any(
        first <= ord(character) <= last for character in token for first, last in UNSPACED_SCRIPTS
    )


def _own_function(name: str) -> Tokenizer:
    function = import_object(name, "--tokenizer")
    if not callable(function):
        raise UserError(f"--tokenizer {name} is a {type(function).__name__}: name a function.")

    def tokenize(text: str) -> tuple[str, ...]:
        return _checked(function(text), name)

    return tokenize


def _checked(tokens: Any, name: str) -> tuple[str, ...]:
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        raise UserError(
            f"--tokenizer {name} returned {type(tokens).__name__}: return a list of strings."
        )
    found = tuple(tokens)
    if any(not isinstance(token, str) for token in found):
        raise UserError(f"--tokenizer {name} returned items that are no strings: return strings.")
    return tuple(token for token in found if token.strip())


def _needs_extra(name: str) -> UserError:
    return UserError(f"--tokenizer {name} needs the extra hf: pip install 'attn-assay[hf]'.")


def _file_of_model(name: str) -> Path:
    """The `tokenizer.json` of a model's folder, or of a model that was downloaded before."""
    model = name.removeprefix(HUGGING_FACE)
    folder = Path(model)
    if folder.is_dir():
        if not (folder / TOKENIZER_FILE).is_file():
            raise UserError(
                f"--tokenizer {name}: the folder has no {TOKENIZER_FILE}: write it with "
                f"transformers.AutoTokenizer.from_pretrained('{model}').save_pretrained('{model}')."
            )
        return folder / TOKENIZER_FILE
    try:
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError
    except ImportError:
        raise _needs_extra(name) from None
    try:
        found = try_to_load_from_cache(model, TOKENIZER_FILE)
    except HFValidationError:  # not the form of a name, such as a path
        found = None
    if not isinstance(found, str):
        raise UserError(
            f"--tokenizer {name}: there is no such folder, and no downloaded model of that name "
            f"with a {TOKENIZER_FILE}: check the path, or run hf download {model} {TOKENIZER_FILE}."
        )
    return Path(found)


def _tokenizer_of_file(path: Path, name: str) -> Tokenizer:
    try:
        import tokenizers
    except ImportError:
        raise _needs_extra(name) from None
    if not path.is_file():
        raise UserError(f"--tokenizer {name}: there is no such file: check the path.")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as fault:  # the library raises no narrower class
        raise UserError(
            f"--tokenizer {name} is no tokenizer of Hugging Face ({fault}): pass the file "
            "tokenizer.json of a saved model."
        ) from fault
    tokenizer.no_truncation()

    def tokenize(text: str) -> tuple[str, ...]:
        try:
            encoded = tokenizer.encode(text, add_special_tokens=False)
        except Exception as fault:  # the library raises no narrower class
            raise UserError(
                f"--tokenizer {name} cannot split '{text[:40]}' ({fault}): repair the file, or "
                "pass another tokenizer."
            ) from fault
        return tuple(text[start:end] for start, end in encoded.offsets if text[start:end].strip())

    return tokenize
