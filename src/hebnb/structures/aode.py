"""Averaged one-dependence estimators for categories, with learned smoothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.special import entr, softmax
from sklearn.base import clone

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.columns.vocabulary import MissingPolicy, Vocabulary
from hebnb.counts.pairs import Caps, Layout, PairCounts, dense_fits
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts, dense
from hebnb.engines import counting as engine
from hebnb.engines.counting import LazyTable
from hebnb.errors import InputError, ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.learner import OF_WEIGHTING
from hebnb.explain.contributions import Evidence
from hebnb.foundation.arrays import THREADS, Array, BoolArray, FloatArray, IntArray
from hebnb.foundation.memory import free_memory
from hebnb.scores import pair_tables as one_dependence
from hebnb.scores.left_out import NaiveBayesParts, OneDependenceParts
from hebnb.scores.pair_tables import Directed
from hebnb.scores.tables import (
    class_log_prior,
    joint_log_scores,
    posterior_mean,
    score_tables,
    separate_scores,
    silent_codes,
)
from hebnb.smoothing.smoothers import Smoother, concentrations, prior_means, smoother
from hebnb.weighting.leave_one_out import blocks, leave_one_out_pool, score_bytes
from hebnb.weighting.log_linear import Pool, Prior

# Scores looked up at a time, so that they stay in the processor's cache.
_BLOCK_CELLS = 1 << 18


class AODE(CategoricalClassifier[PairCounts]):
    """Averaged one-dependence estimators whose smoothing is learned from the data.

    Naive Bayes lets every feature depend on the class alone. Here each feature in turn is a *parent*, on which all the
    others depend too, and the estimates of all parents are averaged. The probabilities of a child's values given the
    class and a parent's value are smoothed with a concentration learned for every (class, parent, child).

    ``AODE()`` is the paper's HEB-AODE, ``AODE("laplace", over_cap="skip")`` its AODE. With a single feature there is no
    child, and the model is naive Bayes with the same smoothing.

    Parameters
    ----------
    smoothing : str or Smoother, default="heb-m"
        How probabilities are made from counts, as for ``NaiveBayes``.
    weighting : {None, "loo"}, default=None
        How the estimates of the parents are put together: by their mean; or as a product of powers, together with
        powers of the factors of naive Bayes and an offset for every class, all learned on the leave-one-out
        likelihood of the training rows. The second gives calibrated probabilities and has nothing to tune.
    max_parent_categories : int or None, default=200
        Largest number of categories of a parent. None: every feature may be one.
    max_joint_cells : float or None, default=5e7
        Largest number of (class, parent value, child value) combinations of a pair.
    over_cap : {"marginal", "skip"}, default="marginal"
        What becomes of a parent or pair over these: its children depend on the class alone, or the parent is left out.
    min_parent_count : float, default=1
        A value acts as a parent only if it occurred in at least this weight of training rows.
    memory_limit : float, optional
        Most bytes that the tables may take; by default half of what is free.
    categorical_features, numeric_features, n_bins, bin_edges, missing
        How columns are read, as for ``NaiveBayes``.
    max_categories : int, optional
        Keep at most so many categories of a column, as for ``NaiveBayes``.
    random_state : int, RandomState or None, default=0
        Seed of the sample that leave-one-out weights are learned from, as for ``NaiveBayes``.

    Attributes
    ----------
    parents_ : array of int
        Positions of the features that act as parents.
    parent_weights_ : array of shape (parents,)
        With leave-one-out weights, the exponent of every parent's estimate.
    feature_weights_ : array of shape (F,)
        With leave-one-out weights, the exponent of every feature's naive Bayes factor beside these.
    class_offsets_ : array of shape (C,)
        With leave-one-out weights, what is added to the score of every class.
    loo_log_loss_ : float
        With leave-one-out weights, an estimate of the log-loss that new rows will see.
    concentration_ : array of shape (C, F, F)
        Strength of the prior for (class, parent, child), in rows; NaN where the child depends on the class alone.
    classes_, class_count_, class_log_prior_, categories_, category_count_, prior_mean_, bin_edges_, counts_
        As for ``NaiveBayes``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Whether two things agree is beyond naive Bayes, but not beyond one dependence:

    >>> import numpy as np
    >>> X = np.array([["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 10)
    >>> y = X[:, 0] == X[:, 1]
    >>> AODE().fit(X, y).score(X, y)
    1.0
    """

    _WEIGHTINGS = (None, "loo")
    _LEARNED = (
        "class_log_prior_",
        "concentration_",
        "parents_",
        "_marginal_concentration",
        "_min_parent_count",
        *OF_WEIGHTING,
    )
    _TALLY = PairCounts

    def __init__(
        self,
        smoothing: str | Smoother = "heb-m",
        *,
        weighting: Literal["loo"] | None = None,
        max_parent_categories: int | None = 200,
        max_joint_cells: float | None = 5e7,
        over_cap: Literal["marginal", "skip"] = "marginal",
        min_parent_count: float = 1,
        memory_limit: float | None = None,
        categorical_features: Literal["auto", "all"] | Sequence[Name] = "auto",
        numeric_features: Sequence[Name] | None = None,
        n_bins: int = 10,
        bin_edges: Mapping[Name, Sequence[float]] | None = None,
        missing: MissingPolicy = "category",
        max_categories: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.smoothing = smoothing
        self.weighting = weighting
        self.max_parent_categories = max_parent_categories
        self.max_joint_cells = max_joint_cells
        self.over_cap = over_cap
        self.min_parent_count = min_parent_count
        self.memory_limit = memory_limit
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.n_bins = n_bins
        self.bin_edges = bin_edges
        self.missing = missing
        self.max_categories = max_categories
        self.random_state = random_state

    def _tally(
        self, vocabulary: Vocabulary, codes: list[IntArray], labels: tuple[IntArray, Array], weights: FloatArray | None
    ) -> PairCounts:
        caps = self._caps()
        counts = Counts.of(vocabulary, codes, *labels, weights)
        self._check_memory(vocabulary, counts.classes.size, len(codes[0]), caps)
        label_codes, label_values = labels
        return PairCounts.of_rows(counts, codes, counts.classes.codes_of(label_values)[label_codes], weights, caps)

    def _tally_lazy(self, table: LazyTable, counts: Counts) -> PairCounts:
        caps, n_rows = self._caps(), engine.n_rows(table)
        self._check_memory(counts.vocabulary, counts.classes.size, n_rows, caps)
        return engine.count_pairs(table, counts, caps, n_rows)

    def _combine(self, known: PairCounts, new: PairCounts) -> PairCounts:
        if known.caps != new.caps:
            raise ParameterError("The caps differ from those of earlier batches.", "Set them before the first batch.")
        vocabulary, classes = known.vocabulary | new.vocabulary, known.classes | new.classes
        self._check_memory(vocabulary, classes.size, known.n_rows + new.n_rows, known.caps)
        return known + new

    def _caps(self) -> Caps:
        for name in ("max_parent_categories", "max_joint_cells", "min_parent_count", "memory_limit"):
            value = getattr(self, name)
            if value is None and name != "min_parent_count":
                continue
            if not isinstance(value, Real) or not float(value) >= 0:
                raise ParameterError(f"{name}={value!r} must be a number that is not negative.")
        if self.over_cap not in ("marginal", "skip"):
            raise errors.unknown_name("over_cap", self.over_cap, ["marginal", "skip"])
        return Caps(self.max_parent_categories, self.max_joint_cells)

    def _check_memory(self, vocabulary: Vocabulary, n_classes: int, n_rows: int, caps: Caps) -> None:
        layout = Layout(np.array([feature.size for feature in vocabulary.features]))
        needed = estimated_bytes(layout, n_classes, n_rows, caps)
        if self.weighting == "loo":
            needed += 1.5 * score_bytes(2 * len(layout.sizes), n_classes, n_rows)
        limit = self.memory_limit if self.memory_limit is not None else free_memory() / 2
        if needed <= limit:
            return
        widest = int(np.argmax(layout.sizes))
        if 4 * layout.sizes[widest] > layout.width:
            remedy = f"leave out column {vocabulary.names[widest]!r} ({layout.sizes[widest]:,} categories)"
        else:
            remedy = f"use fewer of the {len(layout.sizes):,} columns"
        raise InputError(
            f"AODE needs about {needed / 1e6:,.0f} MB for its tables and memory_limit is {limit / 1e6:,.0f} MB.",
            f"Lower max_parent_categories or max_joint_cells, {remedy}, or raise memory_limit.",
        )

    def _learn_from(self, counts: PairCounts, sample: Sample | None, start: Pool | None) -> dict[str, Any]:
        rule = clone(smoother(self.smoothing))
        used = counts.caps.used(counts.layout.sizes, counts.classes.size)
        n_features = len(used)
        parents = np.arange(n_features)
        if self.over_cap == "skip":
            parents = parents[(used | np.eye(n_features, dtype=bool)).all(axis=1)]
        if n_features == 1:
            parents = parents[:0]
        used &= np.isin(np.arange(n_features), parents)[:, np.newaxis]
        directed = Directed.of(counts, used)
        learned: dict[str, Any] = {
            "class_log_prior_": class_log_prior(counts.class_count),
            "concentration_": directed.concentrations(rule),
            "parents_": parents,
            "_marginal_concentration": concentrations(counts, rule),
            "_min_parent_count": float(self.min_parent_count),
        }
        if self.weighting is not None:
            learned |= self._learn_weights(directed, rule, learned, sample, start)
        return learned | self._derived(counts, rule, learned, directed)

    def _learn_weights(
        self, directed: Directed, rule: Smoother, learned: Mapping[str, Any], sample: Sample | None, start: Pool | None
    ) -> dict[str, Any]:
        parents, n_features = learned["parents_"], len(directed.used)
        parts = self._parts_of(directed, rule, learned)
        if start is not None:
            start = replace(start, weights=self._weights_for(parents))
        sizes, centres = ((len(parents), n_features), (1.0, 0.0)) if len(parents) else ((n_features,), (1.0,))
        pool = leave_one_out_pool(parts, sample, Prior(sizes, centres, directed.counts.classes.size), start)
        parent_weights, feature_weights = np.split(pool.weights, [len(parents)])
        return {
            "parent_weights_": parent_weights / max(len(parents), 1),
            "feature_weights_": feature_weights,
            "class_offsets_": pool.offsets,
            "loo_log_loss_": pool.log_loss,
        }

    def _derived(
        self, counts: PairCounts, rule: Smoother, learned: Mapping[str, Any], directed: Directed | None = None
    ) -> dict[str, Any]:
        means, concentration, m = (
            prior_means(counts, rule),
            learned["concentration_"],
            learned["_marginal_concentration"],
        )
        used = ~np.isnan(concentration[0])
        directed = directed or Directed.of(counts, used)
        n_features = len(used)
        weights = learned.get("feature_weights_")
        return {
            "prior_mean_": means,
            "_rule": rule,
            "_children": directed.scores(means, concentration),
            "_unconditioned": [
                [j for j in np.flatnonzero(~used[i]).tolist() if j != i] for i in learned["parents_"].tolist()
            ],
            "_may_be_parent": np.append(_at_least(np.concatenate(counts.pooled), learned["_min_parent_count"]), False),
            "_log_joint": _log_joint(counts),
            "_marginals": score_tables(counts, means, m, np.ones(n_features)),
            "_weighted_marginals": None if weights is None else score_tables(counts, means, m, weights),
        }

    def _left_out_parts(self) -> OneDependenceParts:
        if self._weighted_marginals is None:
            raise ParameterError("AODE leaves training rows out only where it pools.", 'Set weighting="loo".')
        directed = Directed.of(self.counts_, ~np.isnan(self.concentration_[0]))
        return self._parts_of(directed, self._rule, vars(self))

    def _parts_of(self, directed: Directed, rule: Smoother, learned: Mapping[str, Any]) -> OneDependenceParts:
        return OneDependenceParts(
            NaiveBayesParts(directed.counts, rule, learned["_marginal_concentration"]),
            directed,
            learned["concentration_"],
            learned["parents_"],
            lambda weights: _at_least(weights, learned["_min_parent_count"]),
        )

    def _pool(self) -> Pool:
        return Pool(self._weights_for(self.parents_), self.class_offsets_, log_loss=self.loo_log_loss_)

    def _weights_for(self, parents: IntArray) -> FloatArray:
        """The weights of the pool's parts where these are the parents: one that is new has none."""
        known = dict(zip(self.parents_.tolist(), self.parent_weights_.tolist(), strict=True))
        weights = [len(parents) * known.get(i, 0.0) for i in parents.tolist()]
        return np.concatenate([weights, self.feature_weights_])

    def _joint_log_scores(self, codes: list[IntArray]) -> FloatArray:
        positions = self.counts_.layout.positions(codes)
        n_rows, n_classes = positions.shape[1], self.counts_.classes.size
        scores = np.empty((n_classes, n_rows))
        block = max(16, _BLOCK_CELLS // (len(codes) * (n_classes + 2)))
        for start in range(0, n_rows, block):
            rows = slice(start, min(start + block, n_rows))
            scores[:, rows] = self._block_scores(positions[:, rows], [column[rows] for column in codes])
        return scores.T

    def _block_scores(self, positions: IntArray, codes: list[IntArray]) -> FloatArray:
        """The estimates of the parents put together, of shape (C, rows)."""
        estimates = np.empty((len(self.parents_), self.counts_.classes.size, positions.shape[1]))
        in_effect = self._may_be_parent[positions[self.parents_]]
        marginals = self._marginal_scores(codes)
        for place, i in enumerate(self.parents_.tolist()):
            estimates[place] = self._log_joint[:, positions[i]] + self._children.of_parent(i, positions)
            for j in self._unconditioned[place]:
                estimates[place] += marginals[j]
        return (self._mean if self._weighted_marginals is None else self._product)(estimates, in_effect, codes)

    def _mean(self, estimates: FloatArray, in_effect: BoolArray, codes: list[IntArray]) -> FloatArray:
        """log of the mean over the parents in effect; of naive Bayes where there is none."""
        estimates[~np.broadcast_to(in_effect[:, np.newaxis], estimates.shape)] = -np.inf
        active = in_effect.sum(axis=0)
        peak = np.where(active, estimates.max(axis=0, initial=-np.inf), 0.0)
        with np.errstate(divide="ignore"):
            scores: FloatArray = peak + np.log(np.exp(estimates - peak).sum(axis=0)) - np.log(np.maximum(active, 1))
        alone = np.flatnonzero(active == 0)
        scores[:, alone] = self._naive_bayes_scores(alone, codes)
        return scores

    def _product(self, estimates: FloatArray, in_effect: BoolArray, codes: list[IntArray]) -> FloatArray:
        """The weighted sum of all log estimates; naive Bayes stands in for parents not in effect."""
        some = np.flatnonzero(~in_effect.all(axis=0))
        naive_bayes = self._naive_bayes_scores(some, codes)
        estimates[:, :, some] = np.where(in_effect[:, np.newaxis, some], estimates[:, :, some], naive_bayes)
        prior = self.class_offsets_ if len(self.parents_) else self.class_offsets_ + self.class_log_prior_
        factors = joint_log_scores(prior, self._weighted_marginals, codes).T
        scores: FloatArray = np.tensordot(self.parent_weights_, estimates, axes=1) + factors
        return scores

    def _evidence(self, codes: list[IntArray]) -> Evidence:
        directed = Directed.of(self.counts_, ~np.isnan(self.concentration_[0]))
        n_rows, n_features, n_classes = len(codes[0]), len(codes), self.counts_.classes.size
        return Evidence.of_all(
            self._block_evidence([column[rows] for column in codes], directed.total)
            for rows in blocks(n_rows, n_features * n_features * n_classes)
        )

    def _block_evidence(self, codes: list[IntArray], total: FloatArray) -> Evidence:
        """The estimates taken apart, and put together again with the weights that they have."""
        positions = self.counts_.layout.positions(codes)
        in_effect = self._may_be_parent[positions[self.parents_]]
        factors = self._evidence_alone(codes)
        alone, shares = factors
        estimates = [
            self._evidence_of_parent(i, positions, total, factors, effective[:, np.newaxis, np.newaxis])
            for i, effective in zip(self.parents_.tolist(), in_effect, strict=True)
        ]
        shape = len(estimates), *alone.shape
        parts = np.array([part for part, _ in estimates]).reshape(shape)
        log_prior = self.class_log_prior_
        averaging = None
        if self._weighted_marginals is None:
            weights, averaging = _shares_in_mean(log_prior + parts.sum(axis=2), in_effect[..., np.newaxis])
            own = np.where(in_effect.any(axis=0), 0.0, 1.0)[
                :, np.newaxis, np.newaxis
            ]  # naive Bayes for want of parents
            prior = np.zeros(averaging.shape) + log_prior
        else:
            weights = np.zeros(parts.sum(axis=2).shape) + self.parent_weights_[:, np.newaxis, np.newaxis]
            own = self.feature_weights_[:, np.newaxis]
            of_prior = self.parent_weights_.sum() if estimates else 1.0
            prior = np.tile(of_prior * log_prior + self.class_offsets_, (len(alone), 1))
        contribution = np.einsum("psc,psfc->sfc", weights, parts) + own * alone
        shrinkage = np.einsum("psc,psfc->sfc", np.abs(weights), np.array([s for _, s in estimates]).reshape(shape))
        mass = np.abs(weights).sum(axis=0)[:, np.newaxis] + np.abs(own)
        shrinkage = (shrinkage + np.abs(own) * shares) / np.where(mass > 0, mass, 1.0)
        return Evidence(prior, contribution, np.where(mass > 0, shrinkage, 1.0), averaging)

    def _evidence_alone(self, codes: list[IntArray]) -> tuple[FloatArray, FloatArray]:
        """What the features add in naive Bayes, and the prior's share in that, of shape (rows, F, C)."""
        m = self._marginal_concentration
        silent = silent_codes(self.prior_mean_, codes)[..., np.newaxis]
        shares = np.where(silent, 1.0, posterior_mean(0.0, self.counts_.totals, 1.0, m).T)
        return separate_scores(self._marginals, codes, len(m)), shares

    def _evidence_of_parent(
        self,
        i: int,
        positions: IntArray,
        total: FloatArray,
        factors: tuple[FloatArray, FloatArray],
        effective: BoolArray,
    ) -> tuple[FloatArray, FloatArray]:
        """The same for the estimate of a parent where it is in effect.

        What its own value adds to the class's prior is that feature's contribution.
        """
        alone, shares = factors
        m = self.concentration_[:, i]
        used = ~np.isnan(m[0])[:, np.newaxis]
        parent = np.minimum(positions[i], total.shape[1] - 1)
        parts = np.where(used, self._children.of_children(i, positions).transpose(2, 1, 0), alone)
        parts[:, i] = self._log_joint[:, positions[i]].T - self.class_log_prior_
        of_children = posterior_mean(0.0, total[:, parent], 1.0, m[:, np.newaxis]).transpose(1, 2, 0)
        own = np.where(used & (shares < 1), of_children, shares)
        imaginary = self.counts_.classes.size * self.counts_.sizes[i]
        own[:, i] = posterior_mean(0.0, self.counts_.class_count.sum(), 1.0, imaginary)
        return np.where(effective, parts, alone), np.where(effective, own, shares)

    def _naive_bayes_scores(self, rows: IntArray, codes: list[IntArray]) -> FloatArray:
        if not len(rows):
            return np.empty((self.counts_.classes.size, 0))
        return joint_log_scores(self.class_log_prior_, self._marginals, [column[rows] for column in codes]).T

    def _marginal_scores(self, codes: list[IntArray]) -> dict[int, FloatArray]:
        """log P(x_j | y) of the features that some parent does not condition, of shape (C, rows)."""
        found = {}
        for j in set().union(*self._unconditioned):
            scores = np.zeros((len(codes[j]), self.counts_.classes.size))
            self._marginals[j].add_to(scores, codes[j])
            found[j] = np.ascontiguousarray(scores.T)
        return found


def _log_joint(counts: PairCounts) -> FloatArray:
    """log (N_cu + 1)/(S + C·K_i) for every class and parent position (paper, eq. 9), with a last one for nothing.

    It is the posterior mean with one imaginary row in every one of the C·K_i combinations.
    """
    rows = counts.class_count.sum()
    combinations = np.maximum(counts.classes.size * counts.sizes, 1)
    tables = [
        np.log(posterior_mean(dense(table), rows, 1 / number, number))
        for table, number in zip(counts.tables, combinations, strict=True)
    ]
    return np.ascontiguousarray(np.concatenate([*tables, np.zeros((1, counts.classes.size))]).T)


def _shares_in_mean(estimates: FloatArray, counted: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The share r of every log estimate e in the mean of those counted, and what Σ r·e lacks to be the mean's log.

    log Σ exp(e) = Σ r·e + H(r), with H the entropy of the shares.
    """
    n = np.broadcast_to(counted, estimates.shape).sum(axis=0)
    shares = (
        np.where(counted, softmax(np.where(counted, estimates, -1e300), axis=0), 0.0) if len(estimates) else estimates
    )
    return shares, np.where(n, entr(shares).sum(axis=0) - np.log(np.maximum(n, 1)), 0.0)


def _at_least(weights: FloatArray, least: float) -> BoolArray:
    """Whether a sum of weights is positive and reaches a number, but for rounding."""
    return (weights > 0) & (weights >= least * (1 - 1e-9))


def estimated_bytes(layout: Layout, n_classes: int, n_rows: int, caps: Caps) -> float:
    """What fitting takes at its peak, about, from numbers known before anything is made.

    Pair cells, totals of (class, category, child), the positions of the rows, and what the solver works on at a time;
    the factors were measured.
    """
    counted = caps.counted(layout.sizes, n_classes)
    totals = 8.0 * n_classes * layout.width * len(layout.sizes)
    rows = 8.0 * n_rows * len(layout.sizes)
    possible = n_classes * np.outer(layout.sizes, layout.sizes.astype(float))[counted]
    if dense_fits(layout, n_classes, n_rows, counted):
        square = 8.0 * n_classes * layout.width**2
        solving = 100 * min(float(possible.sum()), THREADS * one_dependence.CHUNK)
        return square + max(4 * square, solving) + 3 * totals + 4 * rows  # scores are made when all is solved
    cells = float(np.minimum(n_rows, possible).sum())
    return 120 * cells + 5 * totals + 4 * rows
