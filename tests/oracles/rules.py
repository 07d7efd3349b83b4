"""Rule search the slow way: dense codes, every candidate condition, every record read.

Data is an array of codes, records × columns, where a code is the rank of a value in its column and
-1 means that it is missing. Nothing here knows of defaults, of sparse columns or of
rounding: gradients are plain doubles, so scores are compared up to a tolerance.
"""

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import optimize

ORDINAL, NOMINAL = 0, 1
AT_MOST, ABOVE, EQUAL, UNEQUAL = range(4)
MISSING = -1


class Condition(NamedTuple):
    """A test of one column; in the order in which ties are decided."""

    column: int
    low: int
    op: int
    high: int


@dataclass(frozen=True)
class Candidate:
    condition: Condition
    covered: np.ndarray  # bool, of all records


# Conditions and what they cover


def satisfies(codes, condition):
    """Which codes of a column satisfy a condition; a missing value satisfies none."""
    known = codes != MISSING
    if condition.op == AT_MOST:
        return known & (codes <= condition.low)
    if condition.op == ABOVE:
        return known & (codes >= condition.high)
    if condition.op == EQUAL:
        return codes == condition.low
    return known & (codes != condition.low)


def covers(codes, conditions):
    """Which records satisfy all of some conditions."""
    covered = np.ones(len(codes), bool)
    for condition in conditions:
        covered &= satisfies(codes[:, condition.column], condition)
    return covered


def present_codes(codes):
    return sorted({int(code) for code in codes if code != MISSING})


def conditions_of(column, codes, kind):
    """All conditions on a column that codes at hand give rise to.

    A condition that all known values satisfy is none, whether others are missing or not.
    """
    present = present_codes(codes)
    if len(present) < 2:
        return []
    if kind == NOMINAL:
        return [Condition(column, c, op, c) for c in present for op in (EQUAL, UNEQUAL)]
    pairs = itertools.pairwise(present)
    return [Condition(column, low, op, high) for low, high in pairs for op in (AT_MOST, ABOVE)]


def candidates(codes, kinds, covered, units, min_support, columns=None):
    """All conditions that narrow what is covered, and leave enough of it.

    Records without units are not there, as far as the search goes.
    """
    there = covered & (units > 0)
    total = units[there].sum()
    candidates = []
    for column in range(codes.shape[1]) if columns is None else columns:
        for condition in conditions_of(column, codes[there, column], kinds[column]):
            narrowed = covered & satisfies(codes[:, condition.column], condition)
            support = units[narrowed].sum()
            if min_support <= support < total and support > 0:
                candidates.append(Candidate(condition, narrowed))
    return sorted(candidates, key=lambda candidate: candidate.condition)


# Losses


KINKED = ("absolute", "quantile")  # which have two derivatives where f = y
UP, DOWN = 1, -1  # which way scores would move


def slopes(loss, quantile):
    """Of a loss with a kink: below y, and above."""
    return (-1.0, 1.0) if loss == "absolute" else (-quantile, 1 - quantile)


def gradients(loss, scores, targets, *, quantile=0.5, way=UP, tie=0.0):
    """First and second derivatives of a loss by the scores; records × outputs, as its arguments.

    Of two first derivatives, that for moving up or down; the second is 1 then, as the field has it.
    """
    f, y = np.asarray(scores, float), np.asarray(targets, float)
    if loss in KINKED:
        below, above = slopes(loss, quantile)
        on_kink = np.abs(f - y) <= tie
        return np.where(np.where(on_kink, way == DOWN, f < y), below, above), np.ones_like(f)
    if loss == "poisson":
        return np.exp(f) - y, np.exp(f)
    if loss == "squared":
        return f - y, np.ones_like(f)
    if loss == "logistic":
        p = 1 / (1 + np.exp(-f))
        return p - y, p * (1 - p)
    if loss == "softmax":
        e = np.exp(f - f.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        return p - y, p * (1 - p)
    if loss == "squared_hinge":
        margin = np.where(y > 0, 1 - f, f)
        active = margin > 0
        sign = np.where(y > 0, -1.0, 1.0)
        return np.where(active, 2 * sign * margin, 0.0), np.where(active, 2.0, 0.0)
    if loss == "example_logistic":
        sign = np.where(y > 0, 1.0, -1.0)
        e = np.exp(-sign * f)
        total = 1 + e.sum(axis=1, keepdims=True)
        return -sign * e / total, e * (total - e) / total**2
    raise ValueError(loss)


def loss_of(loss, scores, targets, *, quantile=0.5):
    """The loss of each record."""
    f, y = np.asarray(scores, float), np.asarray(targets, float)
    if loss in KINKED:
        below, above = slopes(loss, quantile)
        return np.where(f < y, below * (f - y), above * (f - y)).sum(axis=1)
    if loss == "poisson":
        return (np.exp(f) - y * f).sum(axis=1)
    if loss == "squared":
        return ((f - y) ** 2 / 2).sum(axis=1)
    if loss == "logistic":
        return np.logaddexp(0, np.where(y > 0, -f, f)).sum(axis=1)
    if loss == "softmax":
        return np.log(np.exp(f).sum(axis=1)) - (f * y).sum(axis=1)
    if loss == "squared_hinge":
        return (np.maximum(0, np.where(y > 0, 1 - f, f)) ** 2).sum(axis=1)
    if loss == "example_logistic":
        return np.log1p(np.exp(np.where(y > 0, -f, f)).sum(axis=1))
    raise ValueError(loss)


# Where outputs depend on each other, the matrix of second derivatives is diag(p) - p pᵀ. Heads of
# several outputs take diag(p) instead, which bounds it: so they never overshoot.
JOINT = ("example_logistic", "softmax")


# Heads


def soft_threshold(g, l1):
    return np.sign(g) * np.maximum(np.abs(g) - l1, 0)


def optimum(g, h, l1, l2):
    """The scores that minimise g·s + h·s²/2 + l1·|s| + l2·s²/2, output by output."""
    top, bottom = soft_threshold(g, l1), h + l2
    return -np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def output_gains(g, h, l1, l2):
    """What the optimum gains, twice over: S(g)² / (h + l2)."""
    top, bottom = soft_threshold(g, l1) ** 2, h + l2
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def weighted_quantile(values, weights, quantile):
    """A number that minimises the loss; the middle of all that do."""
    order = np.argsort(values)
    values, cumulated = values[order], np.cumsum(weights[order])
    target = quantile * cumulated[-1]
    low = values[np.argmax(cumulated >= target - 1e-9)]
    high = values[np.argmax(cumulated > target + 1e-9)]
    return (low + high) / 2


def poisson_optimum(a, b, l1, l2):
    """The s that minimises a·eˢ − b·s + l1·|s| + l2·s²/2."""
    if abs(a - b) <= l1:
        return 0.0
    c = b - l1 if a < b else b + l1
    return optimize.brentq(lambda s: a * np.exp(s) + l2 * s - c, -50, 50, xtol=1e-13)


def head_gain(gains, heads, head_size):
    """The gain of the best head that is allowed."""
    size = {"single": 1, "partial": head_size, "complete": len(gains)}[heads]
    return np.sort(gains)[::-1][:size].sum()


@dataclass(frozen=True)
class Setting:
    """What boosting is told, beside the data."""

    loss: str = "logistic"
    heads: str = "single"
    head_size: int = 1
    learning_rate: float = 0.3
    l1: float = 0.0
    l2: float = 1.0
    max_conditions: int = 3
    min_support: float = 1.0
    quantile: float = 0.5
    monotone: tuple[int, ...] = ()  # by column; none: 0 for all
    groups: tuple[tuple[int, ...], ...] = ()  # columns that may stand in a rule; none: any
    most_columns: int = 0  # of a rule; 0: any number

    def ways(self, condition):
        """Which ways scores may move with a condition."""
        rises = self.monotone[condition.column] if self.monotone else 0
        allowed = {AT_MOST: -rises, ABOVE: rises}.get(condition.op, 0)
        return (UP, DOWN) if allowed == 0 else (allowed,)

    def may_stand_together(self, columns):
        """Whether a rule may have conditions on all of some columns."""
        if self.most_columns and len(columns) > self.most_columns:
            return False
        return not self.groups or any(columns <= set(group) for group in self.groups)


@dataclass(frozen=True)
class BoostProblem:
    codes: np.ndarray  # (m, n)
    kinds: np.ndarray  # (n,)
    targets: np.ndarray  # (m, L)
    units: np.ndarray  # (m,)
    weights: np.ndarray  # (m,)
    setting: Setting

    def ties(self):
        """How close to each output's numbers scores are equal to them."""
        there = self.units > 0
        return 2.0**-44 * np.abs(self.targets[there]).max(axis=0, initial=0)

    def tied(self, scores):
        """Whether any record that counts is on the kink, for each output."""
        there = self.units > 0
        return (np.abs(scores - self.targets) <= self.ties())[there].any(axis=0)

    def statistics(self, scores, way=UP):
        """Gradients and Hessians times what records count."""
        quantile, ties = self.setting.quantile, self.ties()
        g, h = gradients(
            self.setting.loss, scores, self.targets, quantile=quantile, way=way, tie=ties
        )
        if self.setting.loss in JOINT and self.setting.heads != "single":
            h = np.abs(g + (self.targets if self.setting.loss == "softmax" else 0))
        each = (self.units * self.weights)[:, None]
        return g * each, h * each

    def sums(self, scores, covered, way=UP):
        g, h = self.statistics(scores, way)
        return g[covered].sum(axis=0), h[covered].sum(axis=0)

    def gains(self, scores, covered, ways=(UP, DOWN)):
        """What the best head gains that moves scores in one of these ways, output by output."""
        best = np.zeros(self.targets.shape[1])
        for way in ways:
            g, h = self.sums(scores, covered, way)
            gains = output_gains(g, h, self.setting.l1, self.setting.l2)
            best = np.maximum(best, np.where(way * g < -1e-9, gains, 0.0))
        return best

    def gain(self, scores, covered, outputs=None, ways=(UP, DOWN)):
        """What a head for covered records gains; with outputs, a head of exactly these."""
        gains = self.gains(scores, covered, ways)
        if outputs is not None:
            return gains[list(outputs)].sum()
        return head_gain(gains, self.setting.heads, self.setting.head_size)

    def kinked_head(self, scores, covered, again):
        """The rule is made anew until it changes a gradient, if it is found again otherwise."""
        counted = covered & (self.units > 0)
        weights = (self.units * self.weights)[counted]
        head = np.zeros(self.targets.shape[1])
        for output in range(len(head)):
            moved = scores.copy()
            before = [self.statistics(moved, way)[0][counted] for way in (UP, DOWN)]
            for _ in range(1000):
                residuals = (self.targets - moved)[counted, output]
                step = self.setting.learning_rate * weighted_quantile(
                    residuals, weights, self.setting.quantile
                )
                moved[covered, output] += step
                head[output] += step
                after = [self.statistics(moved, way)[0][counted] for way in (UP, DOWN)]
                if not again or abs(step) < 1e-13 or not np.array_equal(before, after):
                    break
        return head

    def head(self, scores, covered, *, again=True):
        """The optimum for all outputs, times the learning rate."""
        setting = self.setting
        if setting.loss in KINKED:
            return self.kinked_head(scores, covered, again)
        g, h = self.sums(scores, covered)
        if setting.loss == "poisson":
            pairs = zip(h, h - g, strict=True)
            best = [poisson_optimum(a, b, setting.l1, setting.l2) for a, b in pairs]
            return setting.learning_rate * np.array(best)
        return self.setting.learning_rate * optimum(g, h, self.setting.l1, self.setting.l2)

    def candidates(self, covered):
        units = self.units
        return candidates(self.codes, self.kinds, covered, units, self.setting.min_support)


# Rules of a learner, checked one choice after the other


class FoundRule(NamedTuple):
    conditions: list[Condition]
    head: dict[int, float]
    support: float
    gain: float


def found_rules(arrays):
    """The rules that the kernel's arrays hold."""
    rules = []
    for r in range(len(arrays["rule_conditions"]) - 1):
        conditions = range(*arrays["rule_conditions"][r : r + 2])
        conditions = [
            Condition(
                int(arrays["columns"][c]),
                int(arrays["low"][c]),
                int(arrays["ops"][c]),
                int(arrays["high"][c]),
            )
            for c in conditions
        ]
        heads = range(*arrays["rule_heads"][r : r + 2])
        head = {int(arrays["outputs"][k]): float(arrays["scores"][k]) for k in heads}
        rules.append(
            FoundRule(conditions, head, float(arrays["support"][r]), float(arrays["gain"][r]))
        )
    return rules


TOLERANCE = 1e-4  # of gains: gradients are rounded to 2**-20 or so of the largest


def check_choices(problem, scores, rule):
    """Each condition of a rule is one of the best, and none was left that is better.

    Returns which records the rule covers.
    """
    covered = np.ones(len(problem.codes), bool)
    reached, outputs, ways, columns = 0.0, None, {UP, DOWN}, set()
    setting = problem.setting
    for step, condition in enumerate([*rule.conditions, None]):
        scored = {
            c.condition: (
                problem.gain(
                    scores, c.covered, outputs, ways.intersection(setting.ways(c.condition))
                ),
                c,
            )
            for c in problem.candidates(covered)
            if setting.may_stand_together(columns | {c.condition.column})
        }
        best = max((gain for gain, _ in scored.values()), default=0.0)
        slack = TOLERANCE * (1 + best)
        if condition is None:
            if step < problem.setting.max_conditions:
                assert best <= reached + slack, "a condition that improves was left out"
            break
        assert condition in scored, f"{condition} is no candidate"
        gain, chosen = scored[condition]
        assert gain >= best - slack, f"{condition} is not the best"
        assert gain > reached - slack, f"{condition} makes the rule worse"
        covered, reached = chosen.covered, gain
        ways &= set(setting.ways(condition))
        columns.add(condition.column)
        if problem.setting.heads != "complete":
            outputs = sorted(rule.head)  # decided with the first condition, and kept
        if problem.setting.loss in KINKED and problem.tied(scores)[outputs].any():
            ways &= {UP} if rule.head[outputs[0]] > 0 else {DOWN}  # likewise
    return covered


def check_limits(setting, rule):
    """Whatever was drawn or pruned: limits hold for the rule that is there."""
    assert setting.may_stand_together({condition.column for condition in rule.conditions})
    for condition in rule.conditions:
        for score in rule.head.values():
            assert score == 0 or np.sign(score) in setting.ways(condition)


def check_head(problem, scores, covered, head, *, again):
    """The head is the closed-form optimum of what it covers, for the right number of outputs."""
    setting = problem.setting
    expected = problem.head(scores, covered, again=again)
    for output, score in head.items():
        np.testing.assert_allclose(score, expected[output], rtol=1e-9, atol=1e-12)
    n_outputs = problem.targets.shape[1]
    size = {"single": 1, "partial": min(setting.head_size, n_outputs), "complete": n_outputs}
    assert len(head) <= size[setting.heads]
    assert list(head) == sorted(head)


def replay(problem, arrays, *, choices=True, again=True):
    """Check rules in the order in which they were learnt; return the scores they lead to.

    `choices`: also check that no better conditions could have been chosen, as long as nothing is
    drawn at random. `again`: rules of a loss with a kink that change nothing are found again.
    """
    scores = np.tile(arrays["default_scores"], (len(problem.codes), 1)).astype(float)
    for rule in found_rules(arrays):
        assert 1 <= len(rule.conditions) <= problem.setting.max_conditions
        covered = covers(problem.codes, rule.conditions)
        if choices:
            np.testing.assert_array_equal(covered, check_choices(problem, scores, rule))
        check_head(problem, scores, covered, rule.head, again=again)
        check_limits(problem.setting, rule)
        assert rule.support == problem.units[covered].sum()
        for output, score in rule.head.items():
            scores[covered, output] += score
    return scores


# Covering: one rule for one class


def criterion_value(criterion, parameter, p, n, all_p, all_n, before):
    """What covering p hits and n misses is worth, of all_p and all_n.

    `before`: hits and misses that are covered without the last condition.
    """
    if criterion == "foil_gain":
        return p * (math.log2(p / (p + n)) - math.log2(before[0] / sum(before)))
    if criterion == "precision":
        return p / (p + n)
    if criterion == "laplace":
        return (p + 1) / (p + n + 2)
    if criterion == "m_estimate":
        return (p + parameter * all_p / (all_p + all_n)) / (p + n + parameter)
    if criterion == "f_measure":
        return (1 + parameter * parameter) * p / (parameter * parameter * all_p + p + n)
    return (p / (p + n) + p / all_p) / 2


def grow_covering_rule(codes, kinds, hits, misses, criterion, parameter, longest, min_support):
    """The conditions of one rule; `hits` and `misses` are weights, both 0 for who is not there."""
    there = hits + misses > 0
    covered, conditions = np.ones(len(codes), bool), []
    if not hits.any():
        return conditions

    def worth(records):
        p, n = hits[records].sum(), misses[records].sum()
        before = hits[covered].sum(), misses[covered].sum()
        return criterion_value(criterion, parameter, p, n, hits.sum(), misses.sum(), before), p

    def rank(condition):
        return condition.column, condition.op == UNEQUAL, condition.low, condition.op

    gains = criterion == "foil_gain"
    reached = 0.0 if gains else -1.0
    while len(conditions) < longest and misses[covered].any():
        options = [
            (*worth(c.covered), [-k for k in rank(c.condition)], c)
            for c in candidates(codes, kinds, covered, there.astype(float), 0)
            if hits[c.covered].any() and (hits + misses)[c.covered].sum() >= min_support
        ]
        best = max(options, key=lambda option: option[:3], default=(reached,))
        if best[0] <= reached:
            break
        reached, covered = 0.0 if gains else best[0], best[-1].covered
        conditions.append(best[-1].condition)
    return conditions


# The kernel's form of columns


def column_arrays(codes, kinds, predominant):
    """Runs of stored values: all that differ from the predominant code of their column."""
    column_runs, run_codes, run_start, records = [0], [], [0], []
    for column, default in enumerate(predominant):
        for code in sorted(set(codes[:, column].tolist()) - {int(default)}):
            run = np.flatnonzero(codes[:, column] == code)
            run_codes.append(code)
            records.extend(run.tolist())
            run_start.append(len(records))
        column_runs.append(len(run_codes))
    return {
        "n_records": len(codes),
        "kinds": np.asarray(kinds, np.uint8),
        "default_codes": np.asarray(predominant, np.int32),
        "column_runs": np.array(column_runs, np.int64),
        "run_codes": np.array(run_codes, np.int32),
        "run_start": np.array(run_start, np.int64),
        "records": np.array(records, np.int32),
    }
