"""How do small files of script and style become the few that stand in the page?

The scripts are modules that name what they use. Here they are laid one after the other, so that
each finds what it needs above it, and the words `import` and `export` go.
"""

import re
from importlib.resources import files

VIEW = (
    "elements", "numbers", "tip", "data", "model", "weights", "outcome", "heatmap", "dials",
    "whatif", "reader", "list", "keys", "view",
)  # fmt: skip
FIGURES = ("tip", "figures")
STYLES = ("page", "verdict", "tables", "figures", "heat", "documents", "whatif", "print")
BESIDE = ("page", "verdict", "tables", "figures", "compare", "print")  # of runs side by side
IMPORT = re.compile(r"^import \{.*?\} from .*?;\n", re.MULTILINE | re.DOTALL)
EXPORT = re.compile(r"^export ", re.MULTILINE)


def script(names: tuple[str, ...]) -> str:
    """One script of several; it may not end the element it stands in."""
    whole = "\n".join(EXPORT.sub("", IMPORT.sub("", _read("script", f"{n}.js"))) for n in names)
    return inert(whole)


def inert(acting: str) -> str:
    return acting.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def style(names: tuple[str, ...] = STYLES) -> str:
    return "\n".join(_read("style", f"{name}.css") for name in names)


def _read(folder: str, name: str) -> str:
    return files("assay.report").joinpath(folder, name).read_text(encoding="utf-8")
