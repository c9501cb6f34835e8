"""Tables of every kind, from the same columns."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: scikit-learn then runs its array checks too
os.environ.pop("COLUMNS", None)  # readline sets it for workers: what they print would be another width
# One Java process serves all tests on Spark, and queries that carry a model need more than the gigabyte it starts with.
os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 2g pyspark-shell")

import shutil

import numpy as np
import pytest
from hypothesis import settings

# The tests make the same tables every time. HEBNB_TESTS=fresh makes others, three times as many; what fails then is
# printed with what makes it fail again, and --hypothesis-seed chooses where to begin.
FRESH = os.environ.get("HEBNB_TESTS") == "fresh"
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("fresh", print_blob=True, deadline=None)
settings.load_profile("fresh" if FRESH else "fixed")


@pytest.hookimpl(trylast=True)  # after Hypothesis has marked its tests
def pytest_collection_modifyitems(items):
    """Random tables are odd at times, and their new rows strange: what is said of that fails none of their laws."""
    for item in items:
        if item.get_closest_marker("hypothesis"):
            for warning in ("TableWarning", "UnseenWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::hebnb.errors.{warning}"), append=False)


def examples(number, **more):
    """Settings for a test of so many random tables."""
    return settings(max_examples=number * (3 if FRESH else 1), **more)


BACKENDS = ["pandas", "polars", "pyarrow", "numpy"]


def make_table(backend, columns):
    """The columns, a dict of lists, as a table of that library; NumPy gets an object array."""
    if backend == "numpy":
        array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
        for f, values in enumerate(columns.values()):
            array[:, f] = values
        return array
    library = pytest.importorskip(backend)
    return library.table(columns) if backend == "pyarrow" else library.DataFrame(columns)


@pytest.fixture(params=BACKENDS)
def table(request):
    """A function from columns to a table; the test runs once for each library."""
    return lambda columns: make_table(request.param, columns)


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """A function that opens HTML from disk, and that nothing goes wrong until the test ends."""
    complaints, contexts = [], []

    def opened(html, anchor="", **options):
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append("a dialog"))
        page.on(
            "request",
            lambda request: complaints.append(request.url) if not request.url.startswith(("file:", "data:")) else None,
        )
        page.goto(path.as_uri() + anchor)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
