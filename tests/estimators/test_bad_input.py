"""A clear error that names the column or argument, and a model that is as it was."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from hebnb import HEB, Additive, InputError, MEstimate, NaiveBayes, ParameterError

X = np.array([["a", "p"], ["b", "q"], ["a", "q"]], dtype=object)
Y = [0, 1, 0]


def duplicate_names():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame([["a", "b"]] * 3, columns=["x", "x"])


def nested():
    pl = pytest.importorskip("polars")
    return pl.DataFrame({"ok": [1, 2, 3], "lists": [[1], [2], [3]]})


def lazy():
    return pytest.importorskip("polars").LazyFrame({"a": [1, 2, 3]})


BAD_DATA = {
    "no rows": (lambda: (np.empty((0, 2)), []), "X has 0 rows"),
    "no columns": (lambda: (np.empty((3, 0)), Y), "0 feature"),
    "one dimension": (lambda: (np.array(["a", "b", "c"]), Y), "Reshape your data"),
    "three dimensions": (lambda: (np.zeros((3, 2, 2)), Y), "got 3D"),
    "sparse": (lambda: (csr_array(np.eye(3)), Y), "sparse matrix.*\nHint: Pass the original columns"),
    "ragged": (lambda: ([["a", "b"], ["c"]], [0, 1]), "rows of X have different lengths"),
    "complex": (lambda: (np.ones((3, 1), dtype=complex), Y), "Complex data not supported"),
    "lazy": (lambda: (lazy(), Y), "is the name of a column|lazy table.\nHint: Collect it"),
    "infinite": (lambda: (np.array([[1.0], [np.inf], [0.5]]), Y), "Column 0: some values are infinite"),
    "duplicate names": (lambda: (duplicate_names(), Y), "more than once: x"),
    "nested": (lambda: (nested(), Y), "Column 'lists': values of type List"),
    "unhashable": (lambda: (np.array([["a", {}], ["b", []], ["c", 1]], dtype=object), Y), "Column 1: .* be categories"),
    "gaps in y": (lambda: (X, [0, None, 1]), "y: 1 labels are missing"),
    "nan in y": (lambda: (X, [0, np.nan, 1]), "y: 1 labels are missing"),
    "continuous y": (lambda: (X, [0.5, 1.2, 3.3]), "Unknown label type: continuous"),
    "no y": (lambda: (X, None), "requires y to be passed"),
    "short y": (lambda: (X, [0, 1]), "X has 3 rows but y has 2"),
}


@pytest.mark.parametrize("case", BAD_DATA)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_data(case, method):
    make, message = BAD_DATA[case]
    bad_X, bad_y = make()
    with pytest.raises(InputError, match=message):
        getattr(NaiveBayes(), method)(bad_X, bad_y)


@pytest.mark.parametrize("case", [*BAD_DATA, "weights", "parameters"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_fitted_model_survives_bad_data(case, method):
    bad_X, bad_y = BAD_DATA[case][0]() if case in BAD_DATA else (X, Y)
    weights = [1, -1, 1] if case == "weights" else None
    model = NaiveBayes().fit(X, Y)
    if case == "parameters":
        model.set_params(smoothing="nonsense")
    before = dict(vars(model))
    with pytest.raises(ValueError):  # noqa: PT011 (the message is checked above)
        getattr(model, method)(bad_X, bad_y, sample_weight=weights)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert_array_equal(model.predict(X), Y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1], "negative, infinite or missing"),
        ([1, np.nan, 1], "negative, infinite or missing"),
        ([1, np.inf, 1], "negative, infinite or missing"),
        ([1, 1], "X has 3 rows but sample_weight has 2"),
        ([[1], [1], [1]], "must be 1D"),
        ([0, 0, 0], "sum of sample_weight is zero"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(InputError, match=message):
        NaiveBayes().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"smoothing": "laplas"}, "(?s)Known: 'heb-m', .*'te'.*Did you mean 'laplace'"),
        ({"smoothing": 3}, "smoothing=3 is not known"),
        ({"smoothing": "HEB-M"}, "Did you mean 'heb-m'"),
        ({"smoothing": HEB}, r"Pass an object: HEB\(\)"),
        ({"smoothing": Additive(0)}, "alpha=0 must be a positive number"),
        ({"smoothing": MEstimate(-1)}, "m=-1 must be a positive number"),
        ({"smoothing": HEB(prior_mean="median")}, "prior_mean='median' is not known"),
        ({"smoothing": HEB(solver="newton")}, "solver='newton' is not known"),
        ({"smoothing": HEB(bounds=(0, 1))}, "bounds="),
        ({"smoothing": HEB(max_iter=0)}, "max_iter=0"),
        ({"smoothing": HEB(low_count=-1)}, "low_count=-1"),
        ({"weighting": "mi"}, "weighting='mi' is not known"),
        ({"missing": "drop"}, "missing='drop' is not known"),
        ({"n_bins": 1}, "n_bins=1"),
        ({"n_bins": 2.5}, "n_bins=2.5"),
        ({"categorical_features": "some"}, "categorical_features='some' is not known"),
        ({"class_prior": [1.0]}, "class_prior has shape"),
        ({"class_prior": [0.3, 0.3]}, "sum to 1"),
        ({"class_prior": [1.5, -0.5]}, "sum to 1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        NaiveBayes(**parameters).fit(X, Y)


def test_predict_before_fit():
    with pytest.raises(NotFittedError):
        NaiveBayes().predict(X)


def test_predict_on_bad_tables():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(ValueError, match="X has 1 features, but NaiveBayes is expecting 2"):
        model.predict(X[:, :1])
    with pytest.raises(InputError, match="0 rows"):
        model.predict(X[:0])
    floats = NaiveBayes().fit(np.linspace(0, 1, 30)[:, np.newaxis], [0, 1] * 15)
    with pytest.raises(InputError, match="Column 0: its values are not all numbers"):
        floats.predict([["a"]])
    with pytest.raises(InputError, match="Column 0: some values are infinite"):
        floats.predict([[np.inf]])
