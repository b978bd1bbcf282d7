"""With which command is this run made again?

Written from the settings in run.json. Where the corpus's files lie and which engine did the work
cannot change the result and are not recorded.
"""

import shlex
from collections.abc import Iterator, Mapping

from assay.report.fields import Fields

FLAGS: Mapping[str, str] = {"from_scratch": "--from-scratch"}  # settings that are on or off
APART = ("corpus", "options", "probes")


def command(settings: Fields) -> str | None:
    """For a shell; None where the run does not say of which corpus it is."""
    corpus = settings.text("corpus")
    if corpus is None:
        return None
    return shlex.join(["assay", "run", corpus, *_options(settings), "--out", "DIR"])


def _options(settings: Fields) -> Iterator[str]:
    for name, value in settings.values.items():
        if name in FLAGS:
            yield from (FLAGS[name],) if value else ()
        elif name not in APART and value is not None:
            yield from (f"--{name.replace('_', '-')}", str(value))
    for name, value in settings.section("options").values.items():
        yield from ("--option", f"{name}={value}")
    probes = settings.rows("probes")
    if probes:
        yield from ("--probes", ",".join(map(str, probes)))
