"""Settings of the documentation: ``sphinx-build -W docs site`` makes pages that can be read offline.

Nothing is fetched while it runs, and nothing while pages are read: no other project's inventory, no font, no script of
somebody else's server.
"""

import importlib
import os
import re
import runpy
import sys
from pathlib import Path

from pygments.lexers.special import TextLexer

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "docs")]
os.environ.setdefault("MPLBACKEND", "Agg")

import guide_pages

guide_pages.write()

project = "hebnb"
author = "The hebnb developers"
copyright = "the hebnb developers, MIT licence"  # noqa: A001
release = version = runpy.run_path(str(ROOT / "src" / "hebnb" / "version.py"))["__version__"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

# Pages are Markdown, which can be read where they lie too.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["config.cache"]

# API pages come from docstrings.
autosummary_generate = True
autodoc_typehints = "none"  # docstrings say what things are
napoleon_google_docstring = False
napoleon_use_rtype = False
# Attributes are shown as parameters are: names of fields would lose the underscore at their end.
napoleon_custom_sections = [("Attributes", "params_style")]

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # its pages would fetch scripts
    "show_signature": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "hebnb"
html_static_path = ["_static"]
html_css_files = ["hebnb.css"]
html_js_files = ["copy.js"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
# Pages without pages below them need no list of these; one with two programs beside each other needs the room.
html_sidebars = {page: [] for page in ("how-it-works", "benchmarks", "coming-from")}
toc_object_entries_show_parents = "hide"
html_theme_options = {
    "logo": {"text": f"hebnb {release}"},
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "show_nav_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "coming-from": []},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def pages_of_names():
    """What public names are called in sentences, and what their pages are about."""
    found = {}
    for module in ("hebnb", "hebnb.datasets", "hebnb.export", "hebnb.metrics", "hebnb.plots", "hebnb.theory"):
        for name in importlib.import_module(module).__all__:
            # A word such as "save" or "column" may mean something else; with its module it does not.
            alone = [name] if name[0].isupper() or module in ("hebnb.export", "hebnb.metrics") else []
            inside = [f"{module}.{name}", *([f"{module.partition('.')[2]}.{name}"] if "." in module else [])]
            found |= dict.fromkeys([*alone, *inside], f"{module}.{name}")
    return {name: target for name, target in found.items() if not target.endswith("__")}


PAGES_OF_NAMES = pages_of_names()


def as_pages(app, docname, source):
    """Links to examples and to sections of the guide, which readers of the files follow, lead to their pages here."""
    if docname == "guide":
        source[0] = guide_pages.contents(source[0])
    elif not docname.startswith("guide/"):
        source[0] = guide_pages.linked(source[0])
    source[0] = source[0].replace("(../examples/README.rst)", "(gallery/index)")
    source[0] = re.sub(r"\(\.\./examples/(\w+)\.py\)", r"(gallery/\1)", source[0])
    if not docname.startswith(("gallery", "reference", "changelog")):
        source[0] = guide_pages.names_linked(source[0], PAGES_OF_NAMES)


def setup(app):
    """The drawing in architecture.md is for readers who have Mermaid, and text for the others."""
    app.add_lexer("mermaid", TextLexer)
    app.connect("source-read", as_pages)
