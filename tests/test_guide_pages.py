"""On the site every section of the guide is a page, and nothing of it is lost."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

import guide_pages

TEXT = guide_pages.GUIDE.read_text(encoding="utf-8")


def test_every_section_is_a_page_and_listed():
    found = guide_pages.sections(TEXT)
    assert list(found) == re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    together = "".join(f"## {title}\n\n{body}\n" for title, body in found.items())
    assert together.split() == TEXT.partition("## ")[1:][0].split() + TEXT.partition("## ")[2].split()
    listed = guide_pages.contents(TEXT)
    assert all(f"guide/{guide_pages.slug(title)}" in listed for title in found)


def test_links_lead_to_pages():
    body = "[a](#smoothing) [b](hostile-files.md) [c](architecture.md#words) [d](guide.md#weighting) [e](https://x.org)"
    assert guide_pages.page("T", body, is_first=True) == (
        "# T\n\n[a](smoothing.md) [b](../hostile-files.md) [c](../architecture.md#words) [d](../guide/weighting.md) "
        "[e](https://x.org)"
    )
    assert guide_pages.linked("[x](guide.md#smoothing) [y](guide.md)") == "[x](guide/smoothing.md) [y](guide.md)"


def test_names_lead_to_their_pages_but_in_programs_headings_and_links():
    pages = {"HEB": "hebnb.HEB", "plots.column": "hebnb.plots.column"}
    text = (
        "# `HEB`\n\n`HEB` and `plots.column`, not `HEB()` or [`HEB`](x.md)\n\n"
        "```python\n`HEB`\n```\n| `HEB` | ``HEB`` |\n"
    )
    link = "{py:obj}`HEB <hebnb.HEB>`"
    assert guide_pages.names_linked(text, pages) == (
        f"# `HEB`\n\n{link} and {{py:obj}}`plots.column <hebnb.plots.column>`, not `HEB()` or [`HEB`](x.md)\n\n"
        f"```python\n`HEB`\n```\n| {link} | ``HEB`` |\n"
    )


def test_links_to_sections_of_the_guide_name_sections():
    anchors = {guide_pages.slug(title) for title in guide_pages.sections(TEXT)}
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        assert set(re.findall(r"guide\.md#([\w-]+)", path.read_text(encoding="utf-8"))) <= anchors, path.name
    assert set(re.findall(r"\]\(#([\w-]+)\)", TEXT)) <= anchors


def test_pages_whose_examples_go_on_say_so():
    assert guide_pages.GOES_ON in guide_pages.page("T", ">>> model\n", is_first=False)
    assert guide_pages.GOES_ON not in guide_pages.page("T", "no example\n", is_first=False)
