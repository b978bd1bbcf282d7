"""How are the tasks of Pruthi et al. 2020 written down: label, tab, words between blanks?"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.errors import UserError
from assay.files import read_lines

CITED = "Pruthi et al. 2020"
FETCH = "Fetch src/classification_tasks/data of github.com/danishpruthi/deceptive-attention; put "


def tabbed_lines(
    path: Path, names: Mapping[str, str]
) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """(line number, class, words in lower case); `names` has the class of each label."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            label, tab, text = line.partition("\t")
            if not tab or label not in names:
                raise UserError(
                    f"{path}, line {number}: '{line[:40]}' does not begin with "
                    f"{' or '.join(names)} and a tab: take the file as it is published."
                )
            yield number, names[label], tuple(text.lower().split())
