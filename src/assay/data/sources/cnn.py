"""CNN question answering: fill the blank in a sentence about a news article.

The cloze corpus of Hermann et al. 2015, with entities anonymized as `@entityN`. Two forms are read:

- `train.txt`, `dev.txt` and `test.txt`: four lines per question (question, answer, paragraph, blank
  line);
- `sample.txt`: numbered lines as in bAbI, first the sentences and then
  `question ? <TAB> answer <TAB> 0`. It names no splits, so assay makes them.

Both are already tokenized. Attention runs over the paragraph; the query is the question with
`@placeholder`. Candidates are the entities seen in train; only those in the paragraph are allowed.
Questions whose answer is not in the paragraph, or never in train, are dropped and counted.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import find_file, read_lines
from assay.data.locate import data_path, first_of, folder_with, require_entries, require_file
from assay.errors import UserError

ENTITY = "@entity"
SAMPLE = "sample.txt"
_FILES = {"train": "train.txt", "dev": "dev.txt", "test": "test.txt"}
_LINES_PER_QUESTION = 3
Cloze = tuple[str, str, str]  # question, answer, paragraph


def _blocks(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Blocks of lines between blank lines, each with the number of its first line."""
    block: list[str] = []
    number = 0
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number - len(block) + 1, block


def _clozes(path: Path) -> Iterator[Cloze]:
    for number, block in _blocks(path):
        # An empty paragraph is a blank line. The block then has two lines; it is dropped later.
        if not _LINES_PER_QUESTION - 1 <= len(block) <= _LINES_PER_QUESTION:
            raise UserError(
                f"{path}, line {number}: {len(block)} lines, but question, answer and paragraph "
                "are expected, and then a blank line: correct the file there."
            )
        question, answer, paragraph = (*block, "")[:_LINES_PER_QUESTION]
        yield question, _entity(answer, f"{path}, line {number + 1}"), paragraph


def _sample_clozes(path: Path) -> Iterator[Cloze]:
    sentences: list[str] = []
    for line_number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        number, _, rest = line.partition(" ")
        if not number.isdecimal():
            raise UserError(
                f"{path}, line {line_number}: '{line[:60]}' does not begin with a line number: "
                "use the original file."
            )
        if number == "1":
            sentences = []
        question, tab, answer = rest.partition("\t")
        if tab:
            entity = _entity(answer.partition("\t")[0], f"{path}, line {line_number}")
            yield question.strip().removesuffix("?"), entity, " ".join(sentences)
        else:
            sentences.append(rest)


def _entity(answer: str, where: str) -> str:
    entity = answer.strip()
    if not entity.startswith(ENTITY):
        raise UserError(
            f"{where}: the answer '{entity[:60]}' is not an {ENTITY}N: correct that question."
        )
    return entity


def _raw(cloze: Cloze, document_id: str, split: str | None) -> Raw:
    question, answer, paragraph = cloze
    tokens = tuple(paragraph.split())
    allowed = tuple(sorted({token for token in tokens if token.startswith(ENTITY)}))
    return Raw(document_id, tokens, answer, split, query=tuple(question.split()), allowed=allowed)


def _questions(path: Path, clozes: Callable[[Path], Iterator[Cloze]]) -> Iterator[Cloze]:
    return require_entries(clozes(path), path, "question")


def read(request: Request) -> Iterator[Raw]:
    """Yield the questions of the three files, or of the sample."""
    folder = data_path(request)
    if find_file(folder, _FILES["train"]) is None and (sample := find_file(folder, SAMPLE)):
        request.notes.append(f"cnn: {sample.name} is a sample without splits, so assay split it")
        for number, cloze in enumerate(_questions(sample, _sample_clozes), 1):
            yield _raw(cloze, f"sample-{number}", None)
        return
    for split, name in _FILES.items():
        for number, cloze in enumerate(_questions(require_file(folder, name), _clozes), 1):
            yield _raw(cloze, f"{split}-{number}", split)


SOURCE = Source(
    name="cnn",
    title="CNN: which entity of a news article fills the blank (Hermann et al. 2015)",
    task="pair",
    size="380,298 train, 3,924 dev, 3,198 test",
    licence="the articles belong to CNN; the question generator is under Apache-2.0",
    reads="train.txt, dev.txt, test.txt (question, answer, paragraph, blank line), or sample.txt",
    get="Generate the files with the scripts of Hermann et al. 2015 and put them into DATA/cnn.",
    read=read,
    locate=first_of(
        folder_with(*_FILES.values(), folders=("cnn", "cnn_qa")),
        folder_with(SAMPLE, folders=("cnn", "cnn_qa_sample")),
    ),
    min_df=8,
)
