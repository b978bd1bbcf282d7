"""Time an audit of a causal language model of about 100 million random parameters.

    python scripts/time_language_model.py --documents 20

A model of GPT-2's shape and a tokenizer for the built-in reviews are written to a temporary folder.
Then `assay audit lm:...` runs in a process of its own, and its processor time is printed.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from assay.data.catalog import load_corpus
from assay.data.corpus import Document

SIZE = {"n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 512}
SUB_WORDS = 20_000
SPREAD = 0.05  # standard deviation of the random weights, so that the attention is not uniform
FEWEST, MOST = 18, 45  # words of a document
PROMPT = "Review: {text} \nAll in all, the film is\n"
LABELS = "positive= good,negative= bad"


def write_model(folder: Path, texts: list[str]) -> int:
    """Write the model and its tokenizer; return the number of parameters."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SUB_WORDS,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*texts, "All in all, the film is good bad"], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>")
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    ends = {"bos_token_id": fast.eos_token_id, "eos_token_id": fast.eos_token_id}
    config = GPT2Config(vocab_size=SUB_WORDS, initializer_range=SPREAD, **SIZE, **ends)
    model = GPT2LMHeadModel(config)
    model.save_pretrained(folder)
    return sum(parameter.numel() for parameter in model.parameters())


def write_documents(file: Path, documents: list[Document], classes: tuple[str, ...]) -> None:
    """Write a table of texts and labels."""
    rows = [f"{' '.join(one.tokens)}\t{classes[one.label]}" for one in documents]
    file.write_text("\n".join(["text\tlabel", *rows, ""]), encoding="utf-8")


def main() -> None:
    """Write everything, run the audit, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--probes", default="all")
    parser.add_argument("--sample", default="0", help="documents for the costly scores")
    asked = parser.parse_args()
    corpus = load_corpus("reviews")
    chosen = [one for one in corpus.test if FEWEST <= len(one.tokens) <= MOST]
    with tempfile.TemporaryDirectory() as created:
        folder = Path(created)
        texts = [" ".join(one.tokens) for one in corpus.train]
        parameters = write_model(folder / "model", texts)
        write_documents(folder / "data.tsv", chosen[: asked.documents], corpus.classes)
        (folder / "prompt.txt").write_text(PROMPT, encoding="utf-8")
        command = [sys.executable, "-m", "assay", "audit", f"lm:{folder / 'model'}"]
        command += ["--labels", LABELS, "--prompt", str(folder / "prompt.txt"), "--threads", "1"]
        command += ["--data", str(folder / "data.tsv"), "--out", str(folder / "run")]
        command += ["--probes", asked.probes, "--sample", asked.sample, "--quiet"]
        subprocess.run(command, check=True)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{parameters / 1e6:.0f} million parameters, {asked.documents} documents: "
        f"{spent.ru_utime + spent.ru_stime:.0f} s of processor time, {spent.ru_maxrss // 1024} MB"
    )


if __name__ == "__main__":
    main()
