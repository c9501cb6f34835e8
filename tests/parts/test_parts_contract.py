"""scikit-learn's own checks of transformers."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hebnb import ColumnParts


@parametrize_with_checks([ColumnParts(), ColumnParts(text=[], dates=[])])
@pytest.mark.filterwarnings("default")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
