"""The button on a program of the site copies what can be run, and nothing else."""

from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "docs" / "_static" / "copy.js"


@pytest.mark.parametrize(
    ("shown", "copied"),
    [
        (">>> a = [\n...     1]\n>>> a\n[1]\n>>> def f():\n...     return 2\n...\n>>> f()\n2\n",
         "a = [\n    1]\na\ndef f():\n    return 2\n\nf()\n"),
        ("$ hebnb report\nlines of a report\n$ ls\n", "hebnb report\nls\n"),
        ("import hebnb\n\nHEB()  # no >>> prompt\n", "import hebnb\n\nHEB()  # no >>> prompt\n"),
    ],
    ids=["session", "shell", "program"],
)  # fmt: skip
def test_what_is_copied(browser, shown, copied):
    page = browser.new_page()
    page.set_content("<p></p>")
    page.add_script_tag(path=SCRIPT)
    assert page.evaluate("program", shown) == copied
    page.close()


def test_every_program_has_a_button_but_not_what_an_example_printed(browser):
    page = browser.new_page()
    block = '<div class="highlight"><pre>import hebnb</pre></div>'
    script = SCRIPT.read_text(encoding="utf-8")
    body = f'<article class="bd-article">{block}<div class="sphx-glr-script-out">{block}</div></article>'
    page.set_content(f"<html><head><script>{script}</script></head><body>{body}</body></html>")
    buttons = page.get_by_role("button", name="Copy the program")
    assert buttons.count() == 1
    buttons.click()
    page.wait_for_function("document.querySelector('.copy-program').textContent === 'Copied'")
    page.close()
