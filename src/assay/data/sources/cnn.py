"""Which entity of a news article fills the blank in a sentence about it?

The CNN cloze corpus of Hermann et al. 2015, entities anonymised as `@entityN`. Two forms:

- `{train,dev,test}.txt`: per question four lines: question, answer, paragraph, blank;
- `sample.txt`, numbered lines as in bAbI: sentences, then `question ? <TAB> answer <TAB> 0`
  (no splits: we split).

Both are tokenised already. Attention runs over the paragraph; the query is the question with
`@placeholder`. Candidates are the entities seen in train; only those of the paragraph are
allowed. Questions whose answer is not in the paragraph, or never in train, are dropped and
counted.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import find_file, read_lines
from assay.data.locate import require_entries, first_of, data_path, folder_with, require_file
from assay.errors import UserError

ENTITY = "@entity"
SAMPLE = "sample.txt"
_FILES = {"train": "train.txt", "dev": "dev.txt", "test": "test.txt"}
_LINES_PER_QUESTION = 3
Cloze = tuple[str, str, str]  # question, answer, paragraph


def _blocks(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Lines between blank lines, with the number of the first."""
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
        # An empty paragraph is a blank line: the block then has two lines, and is counted later.
        if not _LINES_PER_QUESTION - 1 <= len(block) <= _LINES_PER_QUESTION:
            raise UserError(
                f"{path}, line {number}: {len(block)} lines where question, answer and paragraph "
                "are expected, then a blank line: mend the file there."
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
                f"{path}, line {line_number}: '{line[:60]}' does not begin with its id."
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
        raise UserError(f"{where}: the answer '{entity[:60]}' is no {ENTITY}N: mend that question.")
    return entity


def _raw(cloze: Cloze, document_id: str, split: str | None) -> Raw:
    question, answer, paragraph = cloze
    tokens = tuple(paragraph.split())
    allowed = tuple(sorted({token for token in tokens if token.startswith(ENTITY)}))
    return Raw(document_id, tokens, answer, split, query=tuple(question.split()), allowed=allowed)


def _questions(path: Path, clozes: Callable[[Path], Iterator[Cloze]]) -> Iterator[Cloze]:
    return require_entries(clozes(path), path, "question")


def read(request: Request) -> Iterator[Raw]:
    """The questions of the three files, or of the sample."""
    folder = data_path(request)
    if find_file(folder, _FILES["train"]) is None and (sample := find_file(folder, SAMPLE)):
        request.notes.append(f"cnn: {sample.name} is a sample without splits: we split it")
        for number, cloze in enumerate(_questions(sample, _sample_clozes), 1):
            yield _raw(cloze, f"sample-{number}", None)
        return
    for split, name in _FILES.items():
        for number, cloze in enumerate(_questions(require_file(folder, name), _clozes), 1):
            yield _raw(cloze, f"{split}-{number}", split)


SOURCE = Source(
    name="cnn",
    title="which entity of a news article fills the blank",
    task="pair",
    size="380,298 / 3,924 / 3,198 questions",
    licence="articles are CNN's; question generator Apache-2.0",
    reads="train.txt, dev.txt, test.txt (question, answer, paragraph, blank line), or sample.txt",
    get="Generate it with the scripts of Hermann et al. 2015 and put the files in a folder cnn.",
    read=read,
    locate=first_of(
        folder_with(*_FILES.values(), folders=("cnn", "cnn_qa")),
        folder_with(SAMPLE, folders=("cnn", "cnn_qa_sample")),
    ),
    min_df=8,
)
