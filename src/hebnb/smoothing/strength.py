"""Type-II maximum likelihood for Dirichlet concentrations, many of them at once.

Counts n drawn with prior Dirichlet(m θ) have evidence (paper, eq. 5)

    log p(n | m) = Σ_v log Γ(n_v + m θ_v)/Γ(m θ_v)  −  log Γ(N + m)/Γ(m).

Its derivative in m, the score, is Σ_v θ_v Δ(n_v, m θ_v) − Δ(N, m) with Δ(n, a) = ψ(n + a) − ψ(a). Zero counts drop
out of both. The total N enters just as a cell whose prior mean is 1, so one kind of term serves for both; a
problem with several documents, as in AODE, simply has several totals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from hebnb.foundation.arrays import FloatArray, IntArray

# Newton converges quadratically: a step this small leaves an error near its square.
_SMALL_STEP = 1e-6
# Up to this count Δ is summed term by term; from there on its series is faster.
_FEW = 8
# Fewer cells than this are evaluated sooner than merged.
_WORTH_MERGING = 1000
# Categories with fewer rows than this are merged by counting them.
_RARE = 32
# Sums that agree to this relative accuracy are equal: their difference is rounding.
_ROUNDING = 8 * np.finfo(float).eps


@dataclass(frozen=True)
class Terms:
    """Terms log Γ(n + m θ)/Γ(m θ), each with a multiplicity and the number of the problem whose m it involves.

    Parameters
    ----------
    problem : array of int
        Number of the concentration, below ``size``.
    mean : array of float, in (0, 1]
        Prior mean θ of the cell; 1 for a total.
    count : array of float, > 0
        Count n, possibly fractional. Ascending whole ones are evaluated faster.
    multiplicity : array of float
        How many equal cells this one stands for.
    size : int
        Number of concentrations; some may have no terms.
    """

    problem: IntArray
    mean: FloatArray
    count: FloatArray
    multiplicity: FloatArray
    size: int

    def log_rising(self, m: FloatArray) -> FloatArray:
        """Σ log Γ(n + m θ)/Γ(m θ), for each problem."""
        a = m[self.problem] * self.mean
        return self.sum(gammaln(a + self.count) - gammaln(a))

    def slopes(self, m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First and second derivative of ``log_rising`` in m, for each problem."""
        a = m[self.problem] * self.mean
        first, second = np.empty_like(a), np.empty_like(a)
        short = self._ends[-1]
        first[:short], second[:short] = _short_delta(self._ends, a[:short])
        first[short:], second[short:] = delta(self.count[short:], a[short:])
        first *= self.mean
        second *= np.square(self.mean)
        return self.sum(first), self.sum(second)

    def of(self, problems: IntArray) -> Terms:
        """The terms of these problems alone, renumbered in their order."""
        number = np.full(self.size, -1)
        number[problems] = np.arange(len(problems))
        kept = np.flatnonzero(number[self.problem] >= 0)
        return Terms(
            number[self.problem[kept]], self.mean[kept], self.count[kept], self.multiplicity[kept], len(problems)
        )

    @cached_property
    def _ends(self) -> IntArray:
        """Where the counts up to 0, 1, 2, … end, as far as they are whole and stand in ascending order first."""
        whole = np.arange(_FEW + 1)
        ends = np.searchsorted(self.count, whole, side="right")
        few = self.count[: ends[-1]]
        return ends if np.array_equal(few, np.repeat(whole, np.diff(ends, prepend=0))) else np.zeros_like(ends)

    def sum(self, values: FloatArray) -> FloatArray:
        """Sum values of the terms, with their multiplicities, for each problem."""
        return np.bincount(self.problem, self.multiplicity * values, self.size).astype(float, copy=False)


@dataclass(frozen=True)
class CountLikelihood:
    """What the counts say about every concentration: ``cells.log_rising(m) − totals.log_rising(m)``.

    Examples
    --------
    Six observations of one category and four of another, expected to be equally likely:

    >>> import numpy as np
    >>> cells = Terms(np.array([0, 0]), np.array([0.5, 0.5]), np.array([6.0, 4.0]), np.ones(2), size=1)
    >>> totals = Terms(np.array([0]), np.ones(1), np.array([10.0]), np.ones(1), size=1)
    >>> evidence = CountLikelihood(cells, totals)
    >>> np.exp(evidence.log_likelihood(np.array([2.0]))) * 210  # m θ = 1 in both: every split of ten is as likely
    array([0.09090909])
    """

    cells: Terms
    totals: Terms

    @property
    def size(self) -> int:
        """Number of concentrations."""
        return self.cells.size

    def log_likelihood(self, m: FloatArray) -> FloatArray:
        """log p(n | m), without the multinomial coefficient, which does not depend on m."""
        return self.cells.log_rising(m) - self.totals.log_rising(m)

    def score(self, m: FloatArray) -> FloatArray:
        """First derivative of the log likelihood in m."""
        return self.cells.slopes(m)[0] - self.totals.slopes(m)[0]

    def hessian(self, m: FloatArray) -> FloatArray:
        """Second derivative of the log likelihood in m."""
        return self.cells.slopes(m)[1] - self.totals.slopes(m)[1]

    def of(self, problems: IntArray) -> CountLikelihood:
        """The evidence about these concentrations alone."""
        return CountLikelihood(self.cells.of(problems), self.totals.of(problems))


def merge_cells(
    problem: IntArray, marginal: FloatArray, count: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Replace cells of one problem with the same marginal count and count by one, with a multiplicity.

    θ depends on a category only through its marginal count, so such cells are the same term. Their number is bounded
    by what counts can occur, not by how many categories there are. Fractional counts hardly ever coincide: they,
    short lists, and numbers too large to pack into one integer are left as they are.

    Returns
    -------
    problem, marginal, count, multiplicity
        In ascending order of whole counts.
    """
    unmerged = problem, marginal, count, np.ones(len(count))
    if len(count) < _WORTH_MERGING:
        order = np.argsort(count, kind="stable")
        return problem[order], marginal[order], count[order], unmerged[3]
    high = np.array([problem.max(), marginal.max(), count.max()], dtype=float) + 1
    if high.prod() >= 2.0**62:
        return unmerged
    whole_marginal, whole_count = marginal.astype(np.int64), count.astype(np.int64)
    if not ((whole_count == count).all() and (whole_marginal == marginal).all()):
        return unmerged
    many_problems = int(high[0])
    if many_problems * _RARE > len(count):  # too many problems to count in a table
        return _merged(problem, whole_marginal, whole_count)
    is_rare = whole_marginal < _RARE
    rare, frequent = np.flatnonzero(is_rare), np.flatnonzero(~is_rare)
    # Most categories are rare, and their cells are counted; the others are few, and sorted.
    key = _packed(problem.take(rare), whole_marginal.take(rare), whole_count.take(rare), (many_problems, _RARE))
    multiplicity = np.bincount(key)
    seen = np.flatnonzero(multiplicity)
    rest, one_marginal = np.divmod(seen, _RARE)
    one_count, one_problem = np.divmod(rest, many_problems)
    counted = one_problem, one_marginal.astype(float), one_count.astype(float), multiplicity[seen].astype(float)
    others = _merged(problem[frequent], whole_marginal[frequent], whole_count[frequent])
    order = np.argsort(np.concatenate([counted[2], others[2]]), kind="stable")
    problems, marginals, counts, multiplicities = (
        np.concatenate(parts)[order] for parts in zip(counted, others, strict=True)
    )
    return problems, marginals, counts, multiplicities


def _merged(
    problem: IntArray, marginal: NDArray[np.int64], count: NDArray[np.int64]
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Merge cells by sorting them; the counts are overwritten."""
    many_problems, many_marginals = int(problem.max(initial=0)) + 1, int(marginal.max(initial=0)) + 1
    key = _packed(problem, marginal, count, (many_problems, many_marginals))
    key.sort()
    first = np.append(0, np.flatnonzero(key[1:] != key[:-1]) + 1) if len(key) else np.empty(0, dtype=np.intp)
    multiplicity = np.diff(first, append=len(key))
    rest, one_marginal = np.divmod(key[first], many_marginals)
    one_count, one_problem = np.divmod(rest, many_problems)
    return one_problem, one_marginal.astype(float), one_count.astype(float), multiplicity.astype(float)


def _packed(
    problem: IntArray, marginal: NDArray[np.int64], count: NDArray[np.int64], sizes: tuple[int, int]
) -> NDArray[np.int64]:
    """Count, problem and marginal count in one number, which takes the place of the count."""
    many_problems, many_marginals = sizes
    count *= many_problems
    count += problem
    count *= many_marginals
    count += marginal
    return count


def maximize(
    evidence: CountLikelihood,
    bounds: tuple[float, float] = (1e-2, 1e4),
    max_iter: int = 50,
    categories: FloatArray | None = None,
) -> FloatArray:
    """The concentration of greatest evidence within the bounds, for every problem.

    With F the cells' slope and G the totals', the score F − G vanishes where 1/F = 1/G. Both reciprocals are nearly
    linear in m, so Newton's method on their difference, in log m, needs three or four evaluations, and seldom more
    than ten, where the paper's fixed point needs hundreds or thousands. A bracket guards every step: one that leaves
    it is replaced by bisection, or, on a side where nothing was tried yet, by the bound itself, which is the answer if
    the score still points outward there.

    Where the evidence does not depend on m (a constant feature) the answer is the upper bound: nothing speaks
    against full pooling.

    Parameters
    ----------
    evidence : CountLikelihood
    bounds : (float, float)
        Smallest and largest concentration.
    max_iter : int
        Most evaluations of the score.
    categories : array of float, optional
        Number of categories of each problem, for a better first guess.

    Returns
    -------
    array of float, of length ``evidence.size``

    Examples
    --------
    Ten alike out of ten is best explained by no smoothing at all:

    >>> import numpy as np
    >>> cells = Terms(np.array([0]), np.array([0.5]), np.array([10.0]), np.ones(1), size=1)
    >>> totals = Terms(np.array([0]), np.ones(1), np.array([10.0]), np.ones(1), size=1)
    >>> maximize(CountLikelihood(cells, totals))
    array([0.01])
    """
    lowest, highest = np.log(bounds)
    with np.errstate(divide="ignore"):
        log_m = np.clip(np.log(_first_guess(evidence, categories)), lowest, highest)
    below, above = np.full(evidence.size, -np.inf), np.full(evidence.size, np.inf)  # a bound is no bracket until tried
    open_ = np.arange(evidence.size)
    for _ in range(max_iter):
        t = log_m[open_]
        m = np.exp(t)
        (f, df), (g, dg) = evidence.cells.slopes(m), evidence.totals.slopes(m)
        zero = np.abs(f - g) <= _ROUNDING * f
        flat = zero & (np.abs(df - dg) <= _ROUNDING * np.abs(df))
        pinned = ((f > g) & (t >= highest)) | ((f < g) & (t <= lowest))
        low = below[open_] = np.where(f > g, t, below[open_])
        high = above[open_] = np.where(f < g, t, above[open_])

        with np.errstate(all="ignore"):
            newton = np.clip(t - (1 / f - 1 / g) / (m * (dg / g**2 - df / f**2)), lowest, highest)
        end = np.where(f > g, high, low)
        uphill = np.where(np.isinf(end), np.where(f > g, highest, lowest), (t + end) / 2)
        step_to = np.where((newton > low) & (newton < high), newton, uphill)

        stays = zero | pinned
        log_m[open_] = np.where(flat, highest, np.where(stays, t, step_to))
        unsolved = np.flatnonzero(~stays & (np.abs(step_to - t) > _SMALL_STEP))
        if not len(unsolved):
            break
        if len(unsolved) < len(open_):
            open_, evidence = open_[unsolved], evidence.of(unsolved)
    return np.where(log_m == lowest, bounds[0], np.where(log_m == highest, bounds[1], np.exp(log_m)))


def _first_guess(evidence: CountLikelihood, categories: FloatArray | None) -> FloatArray:
    """A concentration from the spread of the counts, to start from; infinite where they vary too little.

    Overdispersed counts have Σ_v (n_v − Nθ_v)²/θ_v ≈ (K − 1) N (N + m)/(1 + m) in every document. Solving the sum over
    documents for m needs only sums of squares.
    """
    cells, totals = evidence.cells, evidence.totals
    rows, squares = totals.sum(totals.count), totals.sum(totals.count**2)
    with np.errstate(all="ignore"):
        if categories is None:  # those with a count, on average over the documents
            categories = cells.sum(np.ones(len(cells.count))) / totals.sum(np.ones(len(totals.count)))
        spread = (cells.sum(cells.count**2 / cells.mean) - squares) / (categories - 1)
        guess = (squares - spread) / (spread - rows)
    return np.where(spread > rows, np.nan_to_num(np.maximum(guess, 0)), np.inf)


def fixed_point(
    evidence: CountLikelihood, bounds: tuple[float, float] = (1e-2, 1e4), max_iter: int = 50, tol: float = 1e-6
) -> FloatArray:
    """Minka's iteration m ← m F/G, started at 1 and clamped, as the paper ran it (eq. 6).

    It climbs towards the maximum but converges linearly, and very slowly when the maximum is large: fifty
    iterations often stop far below it. Kept to reproduce the paper; ``maximize`` finds the maximum itself.

    Parameters
    ----------
    evidence : CountLikelihood
    bounds : (float, float)
        Smallest and largest concentration.
    max_iter : int
        Most iterations.
    tol : float
        A concentration that changes by no more than this fraction of itself is done.

    Returns
    -------
    array of float, of length ``evidence.size``

    Examples
    --------
    >>> import numpy as np
    >>> cells = Terms(np.array([0]), np.array([0.5]), np.array([10.0]), np.ones(1), size=1)
    >>> totals = Terms(np.array([0]), np.ones(1), np.array([10.0]), np.ones(1), size=1)
    >>> fixed_point(CountLikelihood(cells, totals), max_iter=1)
    array([0.728...])
    """
    m = np.full(evidence.size, np.clip(1.0, *bounds))
    moving = np.arange(evidence.size)
    for _ in range(max_iter):
        now = m[moving]
        f, g = evidence.cells.slopes(now)[0], evidence.totals.slopes(now)[0]
        m[moving] = np.clip(now * np.divide(f, g, out=np.ones_like(f), where=g > 0), *bounds)
        still = np.flatnonzero(np.abs(m[moving] - now) > tol * now)
        if not len(still):
            break
        if len(still) < len(moving):
            moving, evidence = moving[still], evidence.of(still)
    return m


def _short_delta(ends: IntArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Δ(n, a) = Σ_{k<n} 1/(a + k) and its derivative, for ascending whole n; those up to k end at ``ends[k]``."""
    first, second = np.zeros_like(a), np.zeros_like(a)
    for k, done in enumerate(ends[:-1].tolist()):
        reciprocal = a[done:] + k
        np.divide(1, reciprocal, out=reciprocal)
        first[done:] += reciprocal
        reciprocal *= reciprocal
        second[done:] -= reciprocal
    return first, second


def delta(n: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Δ(n, a) = ψ(n + a) − ψ(a) and its derivative in a, for n ≥ 0 and a > 0, to nearly full precision.

    Eight steps of ψ(x) = ψ(x + 1) − 1/x bring the argument above 8, where the asymptotic series
    ψ(x) ≈ log x − 1/(2x) − Σ B_2k/(2k x^2k) is exact to rounding after seven terms. Subtracting part by part, with
    the logarithms joined in a log1p, keeps the small differences that a ≫ n leaves.

    Examples
    --------
    >>> import numpy as np
    >>> first, second = delta(np.array([3.0]), np.array([2.0]))
    >>> np.allclose(first, 1 / 2 + 1 / 3 + 1 / 4), np.allclose(second, -(1 / 4 + 1 / 9 + 1 / 16))
    (True, True)
    """
    x = np.stack([a, a + n])
    # Steps k and 7 − k together: 1/(x+k) + 1/(x+7−k) = (2x+7)/(z + k(7−k)) with z = x(x+7). Four divisions serve eight.
    z, twice = x * (x + 7), 2 * x + 7
    inverse = 1 / z
    steps, squares = inverse.copy(), inverse * inverse
    for shift in (6.0, 10.0, 12.0):
        np.divide(1, z + shift, out=inverse)
        steps += inverse
        inverse *= inverse
        squares += inverse
    first = twice * steps
    second = twice * twice * squares - 2 * steps

    x += 8
    inverse = 1 / x
    square = inverse * inverse
    series, slope = np.full_like(x, _SERIES[-1]), np.full_like(x, _SERIES_SLOPE[-1])
    for coefficient, slope_coefficient in zip(_SERIES[-2::-1], _SERIES_SLOPE[-2::-1], strict=True):
        series *= square
        series += coefficient
        slope *= square
        slope += slope_coefficient
    first += inverse * (0.5 + inverse * series)
    second += square * (0.5 + inverse * slope)
    return (
        first[0] - first[1] + np.log1p(n / x[0]),
        second[1] - second[0] - n / (x[0] * x[1]),
    )


# B_2k / 2k for k = 1 … 7, and the factors 2k·B_2k/2k = B_2k of the derivative.
_SERIES = np.array([1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12])
_SERIES_SLOPE = _SERIES * np.arange(2, 15, 2)
