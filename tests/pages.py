"""Pages to look at, and what is seen on them."""

import numpy as np
import pandas as pd

from hebnb.estimators.rows import encoded
from hebnb.page.contents import contents
from hebnb.page.explorer import Examples
from hebnb.page.provenance import Provenance
from hebnb.page.rendering import render


def crossed(n_rows=600, seed=0, classes=("no", "yes", "sure")):
    """Columns that tell more together than apart: text with gaps, a number with gaps, integers."""
    random = np.random.default_rng(seed)
    p, q = random.choice(list("abc"), n_rows).astype(object), random.choice(list("abc"), n_rows).astype(object)
    number, count = random.normal(size=n_rows), random.integers(0, 40, n_rows)
    high = (p == q) ^ (number > 0.3) ^ (random.random(n_rows) < 0.1)
    sure = (count > 30) & (q == "a") & (random.random(n_rows) < 0.8)
    y = np.array(classes, dtype=object)[np.where(sure, len(classes) - 1, high.astype(int))]
    p[random.random(n_rows) < 0.05] = None
    number[random.random(n_rows) < 0.05] = np.nan
    return pd.DataFrame({"p": p, "q": q, "number": number, "count": count}), y


ORIGIN = Provenance("table.csv", 600, "hebnb report table.csv", 0)


def page_of(model, X, y, comparison, name="best", least=1, **more):
    """A page with this model in its explorer, and with some rows."""
    rows = X.head(40)
    labels = model.counts_.classes.codes_of(np.asarray(y[:40], dtype=object))
    tables = model.score_tables_
    more = {"examples": Examples(encoded(model, rows), labels)} | more
    if not set(comparison.classes.tolist()) <= set(model.classes_.tolist()):
        comparison = None  # one of another table has nothing to say
    return render(contents("y", comparison, tables, ORIGIN, explored=(name, tables), least=least, **more))


def probabilities(page):
    """Those of the classes in the order of the model, not of the page."""
    found = page.eval_on_selector_all(
        "#probabilities .value", "all => all.map(o => [Number(o.dataset.class), Number(o.dataset.value)])"
    )
    return np.array([probability for _, probability in sorted(found)])


def pushes(page):
    return np.array(page.eval_on_selector_all("#pushes .value", "all => all.map(o => Number(o.dataset.value))"))
