"""scikit-learn's own checks, and the tools people combine classifiers with."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hebnb import AODE, HEB, HNB, KDB, TAN, EvidenceClassifier, NaiveBayes

ESTIMATORS = [
    NaiveBayes(),
    NaiveBayes(weighting="sqrt-mi"),
    NaiveBayes(smoothing="laplace"),
    NaiveBayes(smoothing="laplace", weighting="sqrt-mi"),
    NaiveBayes(smoothing="m-estimate"),
    NaiveBayes(smoothing=HEB(prior_mean="uniform", solver="minka")),
    NaiveBayes(weighting="loo"),
    AODE(),
    AODE(smoothing="laplace", over_cap="skip"),
    AODE(weighting="loo"),
    TAN(),
    TAN(smoothing="laplace", weighting="loo"),
    KDB(),
    KDB(weighting="loo"),
    HNB(),
    HNB(smoothing="laplace", weighting="loo"),
    EvidenceClassifier(),
    EvidenceClassifier(max_crosses=0, missing="ignore"),
]
# scikit-learn 1.6 asks this of everybody, later versions of those whose tags say that they take sparse tables.
ON_SPARSE_TABLES = {"check_sample_weight_equivalence_on_sparse_data": "sparse tables are refused"}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: ON_SPARSE_TABLES)
@pytest.mark.filterwarnings("default")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
