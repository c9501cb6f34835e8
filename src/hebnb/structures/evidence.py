"""Evidence of columns and crosses of columns, with strengths, crosses and weights learned in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from hebnb.columns.column import Name
from hebnb.columns.kinds import BinTree, MissingPolicy
from hebnb.columns.reading import ReadingParameters
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts
from hebnb.engines import counting
from hebnb.engines.counting import check_limit
from hebnb.engines.lazy_table import LazyTable
from hebnb.errors import ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.learning import Learning
from hebnb.estimators.structure import Structure, Tables
from hebnb.evidence.choice import Choice
from hebnb.evidence.counts import CrossCells, EvidenceCounts
from hebnb.evidence.integers import as_numbers, counts_reread, rows_reread, sample_reread
from hebnb.evidence.learning import learned
from hebnb.evidence.making import tables
from hebnb.evidence.tables import EvidenceModel
from hebnb.explain.scorecard import Scorecard
from hebnb.foundation.arrays import FloatArray
from hebnb.scores.combination import Combination
from hebnb.scores.score_tables import ScoreTables
from hebnb.scores.tables import ScoreTable
from hebnb.smoothing.smoothers import HEB, Smoother
from hebnb.weighting.leave_one_out import MOST_ROWS


@dataclass(frozen=True)
class Evidence(Structure):
    """Columns and crosses of columns, which a sample of the first rows chooses; further batches keep the choice."""

    max_crosses: int
    max_order: int
    reading: ReadingParameters
    seed: int
    counts_type: ClassVar[type[Counts]] = EvidenceCounts
    learns_counts_alone: ClassVar[bool] = True

    def count(self, rows: EncodedRows, known: Counts | None) -> EvidenceCounts:
        """Single columns, and the cells of crosses."""
        if isinstance(known, EvidenceCounts):
            classes = known.classes | rows.classes
            widened = replace(rows, classes=classes, labels=rows.classes.codes_in(classes)[rows.labels])
            return EvidenceCounts.of_rows(widened, known.choice.widened(known.classes, classes))
        random = self._random()
        sample = Sample.of(rows, random).thinned(MOST_ROWS)
        trees = as_numbers(sample, self._kept(rows.vocabulary.names))
        counts = learned(sample_reread(sample, trees), self.max_crosses, self.max_order, random)
        return counts if len(sample) == len(rows) else EvidenceCounts.of_rows(rows_reread(rows, trees), counts.choice)

    def count_lazily(self, table: LazyTable, single: Counts) -> EvidenceCounts:
        """The cells of crosses, by the table's engine."""
        random = self._random()
        sample = counting.sample(table, single, MOST_ROWS, int(random.randint(1 << 30)))
        trees = as_numbers(sample, self._kept(single.vocabulary.names))
        choice = learned(sample_reread(sample, trees), self.max_crosses, self.max_order, random).choice
        counts = counts_reread(single, trees)
        return EvidenceCounts.with_cells(counts, choice, self._cells(table, counts, choice))

    def _cells(self, table: LazyTable, counts: Counts, choice: Choice) -> list[CrossCells]:
        """Of every cross, all in one pass."""
        levels = [cross.depth - 1 for cross in choice.crosses]
        found = counting.count_together(table, counts, [cross.columns for cross in choice.crosses], levels)
        n_classes = counts.classes.size
        return [CrossCells.tallied([*own.codes.T], own.class_, own.count, n_classes) for own in found]

    def tables(self, counts: Counts, rule: Smoother) -> Tables:
        """The evidence of every column and cross."""
        return self.of_counts(counts), None

    @classmethod
    def of_counts(cls, counts: Counts) -> tuple[ScoreTable, ...]:
        """The evidence of every column and cross."""
        assert isinstance(counts, EvidenceCounts)
        return tables(EvidenceModel(counts))

    def _kept(self, names: tuple[Name, ...]) -> set[Name]:
        """Columns that the user wants to be categories."""
        return self.reading.of(names).kept

    def _random(self) -> np.random.RandomState:
        return np.random.RandomState(self.seed)


class AsChosen:
    """The weights that were learned with the crosses."""

    needs_rows: ClassVar[bool] = False
    weighs_estimates: ClassVar[bool] = False

    def combination(self, model: ScoreTables, sample: Sample | None, start: Combination | None) -> Combination:
        """Those of the choice."""
        counts = model.counts
        assert isinstance(counts, EvidenceCounts)
        return Combination(counts.choice.offsets, counts.choice.weights, None, counts.choice.log_loss)


class EvidenceClassifier(CategoricalClassifier):
    """A classifier for categorical and mixed tables that adds up the evidence of columns and of crosses of columns.

    It takes tables as they are, with strings, numbers, dates and gaps, and there is nothing to tune.

    - The evidence of a category is how its rows divide among the classes, compared with all rows. Few rows prove
      little, so it is shrunk towards what other categories with about as few rows show.
    - Numbers and times are put into a tree of bins, and every bin is shrunk towards the larger one that holds it.
    - A cross joins two or three columns. Its evidence is what a combination of their values shows beyond what the
      columns show by themselves.

    How strongly the evidence is shrunk, which columns are crossed, and the weight of each are learned from training
    rows that are left out of the counts that judge them.

    Parameters
    ----------
    max_crosses : int, default=200
        How many crosses of columns there may be at most; with 0 there are none.
    max_order : int, default=3
        How many columns a cross may join at most.
    categorical_features : {"auto", "all"} or list of names or positions, default="auto"
        Which columns are categories. "auto" goes by dtype, and tries integers with many values as numbers too; "all"
        keeps floats as they are; a list names columns that are categories whatever their dtype.
    numeric_features : list of names or positions, optional
        Columns of integers that are numbers.
    hierarchies : dict of name or position to hierarchy, optional
        Trees of categories. A category is then shrunk towards those it shares an ancestor with, and a category never
        seen counts as the deepest of its ancestors that was seen. A hierarchy is a list of prefix lengths, ``[1, 3]``
        for ZIP codes; a separator, under which ``"a/b/c"`` has the ancestors ``"a"`` and ``"a/b"``; a dict of value to
        parent, and parent to grandparent; or a table (a dict of columns, or of pandas, Polars or PyArrow) with a
        column for every level, from fine to coarse: value, parent, grandparent. Values are text or whole numbers,
        which are read as their digits, and never as numbers: a ZIP code has to be text to keep its leading zeros.
    missing : {"category", "ignore", "error"}, default="category"
        What is made of a gap: a value of its own, something that says nothing, or an error.
    max_categories : int, optional
        Keep at most so many categories of a column, the most frequent; the others count as unseen, and in a hierarchy
        for their ancestors.
    random_state : int, RandomState or None, default=0
        Beyond 50,000 rows strengths, crosses and weights are learned from a sample, drawn from this seed and
        stratified by class; tables are made of all rows.

    Attributes
    ----------
    crosses_ : list of tuples of names
        The crosses, by order and then by what they gain.
    strengths_ : dict of name, or tuple of names, to array
        How strongly evidence is shrunk, in rows that the prior is worth, at every level from coarse to fine.
    weights_ : dict of name, or tuple of names, to float
        What the evidence of each column and cross is multiplied by in the score.
    gains_ : dict of name, or tuple of names, to float
        By how much a column lowers the log-loss of left-out rows, compared with no column; for a cross, compared with
        its columns by themselves.
    integers_as_numbers_ : list of names
        Columns of integers that were read as numbers, because left-out rows are predicted better so.
        ``categorical_features`` keeps them categories.
    loo_log_loss_ : float
        An estimate of the log-loss that new rows will see. The rows are put into ten parts, and each part is predicted
        by tables and weights that come from the other nine. Crosses are chosen from all rows; so up to 3,000 rows the
        choice is repeated without each of five parts of them, and the estimate is multiplied by how much worse these
        parts are predicted then. With a few hundred rows it is no more certain than cross-validation is.
    classes_, class_count_, class_log_prior_, class_offsets_, categories_, category_count_
        As for ``NaiveBayes``.
    bin_edges_, dropped_, counts_
        As for ``NaiveBayes``.
    feature_importances_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Whether two things agree is beyond any single column:

    >>> import numpy as np
    >>> from hebnb import EvidenceClassifier
    >>> X = np.array([["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 20)
    >>> y = X[:, 0] == X[:, 1]
    >>> model = EvidenceClassifier().fit(X, y)
    >>> model.crosses_
    [(0, 1)]
    >>> model.predict([["a", "a"], ["a", "b"]])
    array([ True, False])

    A code that was never seen is judged by the other codes that begin with the same digits:

    >>> codes = np.array([[f"{n}"] for n in range(100, 300)])
    >>> model = EvidenceClassifier(hierarchies={0: [1, 2]}).fit(codes[::2], codes[::2, 0] < "200")
    >>> model.predict([["199"], ["201"]])
    array([ True, False])
    """

    _STRUCTURE: ClassVar[type[Structure]] = Evidence

    def __init__(
        self,
        *,
        max_crosses: int = 200,
        max_order: int = 3,
        categorical_features: Literal["auto", "all"] | Sequence[Name] = "auto",
        numeric_features: Sequence[Name] | None = None,
        hierarchies: Mapping[Name, Any] | None = None,
        missing: MissingPolicy = "category",
        max_categories: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.max_crosses = max_crosses
        self.max_order = max_order
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.hierarchies = hierarchies
        self.missing = missing
        self.max_categories = max_categories
        self.random_state = random_state

    def _structure(self) -> Evidence:
        for name, least in (("max_crosses", 0), ("max_order", 1)):
            number = getattr(self, name)
            if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < least:
                raise ParameterError(f"{name}={number!r} must be an integer of at least {least}.")
        seed = int(self._new_random().randint(1 << 30))
        return Evidence(int(self.max_crosses), int(self.max_order), self._reading(), seed)

    def _reading(self) -> ReadingParameters:
        return ReadingParameters(
            self.categorical_features,
            self.numeric_features,
            missing=self.missing,
            trees=True,
            hierarchies=self.hierarchies,
        )

    def _learning(self) -> Learning:
        check_limit(self.max_categories)
        return Learning(self._structure(), HEB(), AsChosen(), self._reading(), self.max_categories)

    @property
    def crosses_(self) -> list[tuple[Name, ...]]:
        """The crosses, by the names of their columns."""
        counts = self._evidence("crosses_")
        return _titles(counts)[len(counts.tables) :]

    @property
    def integers_as_numbers_(self) -> list[Name]:
        """The columns of integers that were read as numbers without being told to."""
        vocabulary = self._evidence("integers_as_numbers_").vocabulary
        pairs = zip(vocabulary.names, vocabulary.features, strict=True)
        return [name for name, kind in pairs if isinstance(kind, BinTree) and kind.of_integers]

    @property
    def strengths_(self) -> dict[Any, FloatArray]:
        """How strongly the classes of cells are shrunk, in rows, at every level."""
        counts = self._evidence("strengths_")
        choice = counts.choice
        levels = [own.levels for own in choice.columns] + [cross.strengths for cross in choice.crosses]
        return dict(zip(_titles(counts), map(np.array, levels), strict=True))

    @property
    def weights_(self) -> dict[Any, float]:
        """How much the evidence of each column and cross counts."""
        counts = self._evidence("weights_")
        return dict(zip(_titles(counts), counts.choice.weights.tolist(), strict=True))

    @property
    def gains_(self) -> dict[Any, float]:
        """How much more likely left-out rows are with a column or cross, in nats a row."""
        counts = self._evidence("gains_")
        choice = counts.choice
        gains = [*choice.gains.tolist(), *(cross.gain for cross in choice.crosses)]
        return {names: gain / choice.n_rows for names, gain in zip(_titles(counts), gains, strict=True)}

    def scorecard(
        self,
        *,
        points_to_double: float = 20,
        base: float = 600,
        base_odds: float = 50,
        label: Any = None,
        digits: int | None = None,
    ) -> Scorecard:
        """The model as points that add up, for two classes.

        Parameters
        ----------
        points_to_double : float, default=20
            How many points double the odds.
        base, base_odds : float, default=600 and 50
            The points of a row that is so many times as likely to be of the class as not.
        label : object, optional
            The class whose odds rise with the points; by default the last.
        digits : int, optional
            Round the points of every value to so many digits after the point; 0 makes whole numbers.

        Returns
        -------
        Scorecard
            Its ``table()`` has the points of all columns and crosses, its ``score(X)`` is what rows add up to.

        Examples
        --------
        >>> import numpy as np
        >>> from hebnb import EvidenceClassifier
        >>> model = EvidenceClassifier().fit([["own"], ["own"], ["rent"]] * 9, ["good", "good", "bad"] * 9)
        >>> card = model.scorecard(label="good")
        >>> card.table()["value"].tolist()
        [None, 'own', 'rent', '(unseen)']
        >>> bad, good = model.predict_proba([["own"]])[0]
        >>> bool(np.isclose(card.score([["own"]])[0], 600 + 20 * np.log2(good / bad / 50)))
        True
        """
        scores = self.score_tables_
        return Scorecard.of(
            scores,
            partial(self._codes, scores=scores),
            points_to_double=points_to_double,
            base=base,
            base_odds=base_odds,
            label=label,
            digits=digits,
        )

    @property
    def feature_weights_(self) -> FloatArray:
        """How much the evidence of each column counts."""
        counts = self._evidence("feature_weights_")
        return counts.choice.weights[: len(counts.tables)]

    @property
    def prior_mean_(self) -> list[FloatArray]:
        """Not here: probabilities are those of classes, and what they are shrunk towards depends on the cell."""
        raise AttributeError("EvidenceClassifier has no prior_mean_: it learns the class given the cell.")

    def _evidence(self, attribute: str) -> EvidenceCounts:
        counts = self._fitted(attribute).counts
        assert isinstance(counts, EvidenceCounts)
        return counts


def _titles(counts: EvidenceCounts) -> list[Any]:
    """The name of every column, and the names of the columns of every cross."""
    names = counts.vocabulary.names
    return [*names, *(tuple(names[f] for f in cross.columns) for cross in counts.choice.crosses)]
