"""Fast versions of slow tokenizers that read letter by letter, such as that of protein models.

Items are found by the offsets of sub-words, which slow tokenizers do not report. Where every word
of a vocabulary is one letter, a fast tokenizer with the same ids can be written down. It is used
only if both give the same ids for all letters, and for letters that are unknown.
"""

from typing import Any

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

# Letters that no alphabet of residues has: the slow tokenizer joins neighbors to one unknown word.
UNKNOWN = "Ωψ"


def letter_tokenizer(slow: Any) -> Tokenizer | None:
    """A tokenizer with offsets and the ids of a slow one; None if it does not read letters."""
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
