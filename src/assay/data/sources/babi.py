"""bAbI tasks 1 to 3: questions about people, places and objects in a short story.

The stories are read from the published v1.2 files if they are given. Otherwise our own simulator
(`babi_world`) generates them; the corpus's notes say which. Attention runs over the whole story
before the question: its sentences, joined by ` . `, with case kept. The query is the question
without its question mark. The words of the supporting sentences are the rationale. As in Jain &
Wallace 2019 the candidates are all 35 words of the three tasks, none masked.

Departure from the paper: the questions of one story stay in one split. The paper cut dev from train
question by question, so that both held the same stories.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain, count
from pathlib import Path
from random import Random

from assay.data.corpus import Raw, Request, Source, whole_number
from assay.data.files import read_lines
from assay.data.locate import folder_with, require_entries, require_file
from assay.data.sources.babi_world import VOCABULARY, Question, Sentence, generate_questions
from assay.errors import UserError

FULL_STOP = "."
OPTIONS = {"questions": "10000"}  # for training; a tenth as many are generated for the test
_FEWEST, _MOST = 50, 1_000_000
_STEMS = {
    1: "qa1_single-supporting-fact",
    2: "qa2_two-supporting-facts",
    3: "qa3_three-supporting-facts",
}
_PARENTS = ("", "babi/", "tasks_1-20_v1-2/", "babi/tasks_1-20_v1-2/")
_FACTS = {1: "one supporting fact", 2: "two supporting facts", 3: "three supporting facts"}


def to_raw(question: Question, document_id: str, split: str) -> Raw:
    """Join the sentences by full stops and mark the words of the supporting ones."""
    tokens: list[str] = []
    marks: list[bool] = []
    for number, sentence in enumerate(question.story):
        if number:
            tokens.append(FULL_STOP)
            marks.append(False)
        tokens.extend(sentence)
        marks.extend([number in question.supports] * len(sentence))
    return Raw(
        id=document_id,
        tokens=tuple(tokens),
        label=question.answer,
        split=split,
        query=question.words,
        allowed=VOCABULARY,
        rationale=tuple(marks),
        group=question.story_id,
    )


def _read_stories(path: Path, split: str) -> Iterator[Question]:
    """Questions of numbered lines; the number 1 starts a story; question lines contain tabs."""
    story: list[Sentence] = []
    indices: dict[str, int] = {}  # line number in the story -> index of its sentence
    stories = count(1)
    story_id = ""
    for line_number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        where = f"{path}, line {line_number}"
        number, _, rest = line.partition(" ")
        if not number.isdecimal() or not rest.strip():
            raise UserError(
                f"{where}: '{line[:60]}' is not 'NUMBER sentence.': use the unaltered v1.2 files."
            )
        if number == "1":
            story, indices, story_id = [], {}, f"{split}-{next(stories)}"
        if "\t" in rest:
            yield _parse_question(rest, story_id, story, indices, where)
        else:
            indices[number] = len(story)
            story.append(tuple(rest.strip().removesuffix(FULL_STOP).split()))


def _parse_question(
    text: str, story_id: str, story: list[Sentence], indices: dict[str, int], where: str
) -> Question:
    fields = [field.strip() for field in text.split("\t")]
    if len(fields) != 3 or not fields[1]:
        raise UserError(f"{where}: write 'question? <TAB> answer <TAB> supporting line numbers'.")
    question, answer, facts = fields
    if answer not in VOCABULARY:
        raise UserError(
            f"{where}: the answer '{answer}' is not a word of bAbI tasks 1 to 3: "
            "use the English v1.2 files."
        )
    unknown = [fact for fact in facts.split() if fact not in indices]
    if unknown or not facts:
        raise UserError(
            f"{where}: the supporting facts '{facts}' are not numbers of earlier sentences of the "
            "story: use the unaltered v1.2 files."
        )
    supports = frozenset(indices[fact] for fact in facts.split())
    return Question(story_id, tuple(story), tuple(question.rstrip("? ").split()), answer, supports)


def _from_files(task: int, folder: Path, split: str) -> Iterator[Question]:
    path = require_file(folder, f"{_STEMS[task]}_{split}.txt")
    return require_entries(_read_stories(path, split), path, "question")


def read(task: int, request: Request) -> Iterator[Raw]:
    """Yield the train and test questions, from files if `request.data` is given."""
    questions = whole_number(request, OPTIONS, "questions", low=_FEWEST, high=_MOST)
    _note_origin(task, request, questions)
    for split, number in (("train", questions), ("test", questions // 10)):
        if request.data is None:
            rng = Random(f"babi{task} {split} {request.seed}")
            found = generate_questions(task, number, rng, split)
        else:
            found = _from_files(task, request.data, split)
        for index, question in enumerate(found):
            yield to_raw(question, f"{split}-{index}", split)


def _note_origin(task: int, request: Request, questions: int) -> None:
    if request.data is None:
        request.notes.append(f"babi{task}: the stories are generated, {questions} train questions")
        return
    small = " (1,000 train questions; en-10k was not found)" if request.data.name == "en" else ""
    request.notes.append(f"babi{task}: the published files in '{request.data.name}'{small}")
    if questions != int(OPTIONS["questions"]):
        request.notes.append(f"questions={questions} applies to generated stories only")


def _source(task: int) -> Source:
    files = [f"{_STEMS[task]}_{split}.txt" for split in ("train", "test")]
    folders = chain.from_iterable(
        [parent + size for parent in _PARENTS] for size in ("en-10k", "en")
    )
    return Source(
        name=f"babi{task}",
        title=f"bAbI task {task}: questions about a small world, {_FACTS[task]} (Weston et al. "
        "2015)",
        task="pair",
        size="10,000 train, 1,000 test (questions=N if generated)",
        licence="CC BY 3.0 (published files); generated stories are free to use",
        reads=f"{files[0]} and {files[1]} of bAbI v1.2, en-10k or en; without them the stories "
        "are generated",
        get="No files are needed. To use the published ones, unpack tasks_1-20_v1-2 in DATA.",
        read=partial(read, task),
        locate=folder_with(*files, folders=tuple(folders)),
        fallback="generated",
        options=OPTIONS,
    )


BABI1, BABI2, BABI3 = (_source(task) for task in (1, 2, 3))
