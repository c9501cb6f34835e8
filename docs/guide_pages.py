"""The guide is one file, whose examples are run from top to bottom; on the site every section of it is a page."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
GUIDE = FOLDER / "guide.md"
GOES_ON = "*Examples go on from those of the page before.*\n"


def slug(title: str) -> str:
    """The anchor of a title, as GitHub and MyST make it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def sections(text: str) -> dict[str, str]:
    """The sections of the guide by their titles."""
    _, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    return {part.partition("\n")[0].strip(): part.partition("\n")[2].strip() + "\n" for part in parts}


def linked(text: str, here: str = "") -> str:
    """A page of docs with its links to sections of the guide leading to their pages; ``here`` is the way up."""
    text = re.sub(r"\]\(guide\.md#([\w-]+)\)", rf"]({here}guide/\1.md)", text)
    return re.sub(r"\]\(([\w-]+\.(?:md|png)(?:#[\w-]+)?)\)", rf"]({here}\1)", text) if here else text


def names_linked(text: str, pages: dict[str, str]) -> str:
    """A page whose public names, written as code, lead to their pages; not in programs, headings and links."""

    def as_link(match: re.Match[str]) -> str:
        target = pages.get(match["name"] or "")
        return match[0] if target is None else f"{{py:obj}}`{match['name']} <{target}>`"

    left_alone = r"^```.*?^```|^#[^\n]*|\[[^\]\n]*\]\([^)\n]*\)"
    return re.sub(rf"{left_alone}|(?<!`)`(?P<name>[\w.]+)`(?!`)", as_link, text, flags=re.MULTILINE | re.DOTALL)


def page(title: str, body: str, is_first: bool) -> str:
    """A section as a page in a folder."""
    body = re.sub(r"\]\(#([\w-]+)\)", r"](\1.md)", linked(body, "../"))
    body = re.sub(r"^###", "##", body, flags=re.MULTILINE)
    note = "" if is_first or ">>> " not in body else f"{GOES_ON}\n"
    return f"# {title}\n\n{note}{body}"


def contents(text: str) -> str:
    """The page that lists the sections."""
    titles = list(sections(text))
    lines = [f"- [{title}](guide/{slug(title)}.md)" for title in titles]
    tree = ["```{toctree}", ":hidden:", "", *(f"guide/{slug(title)}" for title in titles), "```"]
    return "\n".join(["# Guide", "", "One page for each thing that there is to know.", "", *lines, "", *tree, ""])


def write() -> None:
    """Write the pages, those that changed."""
    target = FOLDER / "guide"
    target.mkdir(exist_ok=True)
    pages = {
        f"{slug(title)}.md": page(title, body, n == 0)
        for n, (title, body) in enumerate(sections(GUIDE.read_text(encoding="utf-8")).items())
    }
    for path in target.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = target / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
