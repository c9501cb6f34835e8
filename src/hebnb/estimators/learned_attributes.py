"""What a fitted classifier has learned, as attributes whose names end in an underscore, and as HTML."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from hebnb.columns.column import Name
from hebnb.columns.vocabulary import Dropped
from hebnb.counts.single import Counts, dense
from hebnb.estimators.rows import names_that_are_text
from hebnb.estimators.state import Learned
from hebnb.evidence.single import importances
from hebnb.explain.learned import learned_html
from hebnb.foundation.arrays import Array, FloatArray
from hebnb.foundation.documentation import documentation
from hebnb.scores.combination import Combination
from hebnb.scores.score_tables import ScoreTables
from hebnb.smoothing.smoothers import prior_means


class LearnedAttributes(BaseEstimator):  # type: ignore[misc]
    """An estimator whose learned state is one value, which a fit replaces at once."""

    _learned: Learned

    @property
    def score_tables_(self) -> ScoreTables:
        """The model as it is now: what a fit in another thread does not change."""
        return self._state().scores

    @property
    def counts_(self) -> Counts:
        """What was counted of the training rows."""
        return self._fitted("counts_").counts

    @property
    def classes_(self) -> Array:
        """Class labels in sorted order."""
        return self._fitted("classes_").counts.classes.values

    @property
    def class_count_(self) -> FloatArray:
        """Weight of the training rows of each class."""
        return self._fitted("class_count_").counts.class_count.copy()

    @property
    def class_log_prior_(self) -> FloatArray:
        """Log probabilities of the classes."""
        return self._fitted("class_log_prior_").log_prior

    @property
    def categories_(self) -> list[Array]:
        """Categories of every feature."""
        return [feature.labels for feature in self._fitted("categories_").counts.vocabulary.features]

    @property
    def category_count_(self) -> list[FloatArray]:
        """Weight of the training rows of each class and category."""
        return [dense(table).T.copy() for table in self._fitted("category_count_").counts.tables]

    @property
    def prior_mean_(self) -> list[FloatArray]:
        """What the probabilities of the categories are shrunk towards."""
        scores = self._fitted("prior_mean_")
        return prior_means(scores.counts, scores.rule)

    @property
    def feature_weights_(self) -> FloatArray:
        """Exponent of every feature's factor."""
        return self._weights("feature_weights_").table_weights

    @property
    def feature_importances_(self) -> FloatArray:
        """How much every column tells about the class, as shares that sum to one; see the importance plot.

        A column counts by how much more likely it makes the classes of left-out rows than they are without any column,
        and by its part of what crosses of columns gain. A gain of zero or below, as noise and ids have but for luck,
        counts as zero; two columns that say the same both count. Of ``AODE``, ``TAN`` and ``KDB`` it is what columns
        tell by themselves.
        """
        return importances(self._fitted("feature_importances_").counts)

    @property
    def class_offsets_(self) -> FloatArray:
        """What is added to the score of every class."""
        return self._weights("class_offsets_").offsets

    @property
    def loo_log_loss_(self) -> float:
        """An estimate of the log-loss that new rows will see."""
        loss = self._weights("loo_log_loss_").log_loss
        if loss is None:
            raise AttributeError("loo_log_loss_ comes with weights that are learned from left-out rows.")
        return loss

    @property
    def bin_edges_(self) -> dict[Name, FloatArray]:
        """Where numeric columns are cut."""
        return self._fitted("bin_edges_").counts.vocabulary.edges

    @property
    def dropped_(self) -> Dropped:
        """What ``max_categories`` left out."""
        return self._attribute("dropped_").dropped

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self._fitted("n_features_in_").counts.vocabulary.names)

    @property
    def feature_names_in_(self) -> Array:
        """The names of the columns, if they have any."""
        return names_that_are_text(self._fitted("feature_names_in_").counts.vocabulary.names)

    def _weights(self, attribute: str) -> Combination:
        scores = self._fitted(attribute)
        if scores.is_mean:
            raise AttributeError(f"{attribute} comes with weights, and this model takes a mean.")
        return scores.combination

    def _state(self) -> Learned:
        """All that was learned, as it is now. Another thread may replace it, so every answer asks once."""
        check_is_fitted(self)
        return self._learned

    def _attribute(self, name: str) -> Learned:
        """The same for an attribute, which is not there before fit."""
        learned: Learned | None = getattr(self, "_learned", None)
        if learned is None:
            raise AttributeError(f"{name} is learned by fit, which has not been called.")
        return learned

    def _fitted(self, attribute: str) -> ScoreTables:
        return self._attribute(attribute).scores

    def __sklearn_is_fitted__(self) -> bool:
        return "_learned" in self.__dict__

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram, and below it what was learned."""
        html: str = estimator_html_repr(self)
        return html + self._learned_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:
            shown["text/html"] += self._learned_html()
        return shown

    def _learned_html(self) -> str:
        """What was learned; nothing before it was."""
        if not self.__sklearn_is_fitted__():
            return ""
        return learned_html(self.score_tables_, getattr(self, "gains_", None), getattr(self, "loo_log_loss_", None))

    def _get_doc_link(self) -> str:
        """Where the classifier is described, for scikit-learn's diagram; empty if the package does not say."""
        return documentation(type(self).__name__)
