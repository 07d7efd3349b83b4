"""Averages of mixtures: by what recipe their members are learnt."""

from dataclasses import dataclass

import numpy as np
import pytest

from tacit.density.average import foretell, learn_average
from tacit.density.learn import STRENGTHS
from tacit.density.search import Recipe

FIRST = Recipe(8, 1.0, 4)


@dataclass
class Member:
    """A stand-in for a mixture: what it says of two held-out records depends on its strength."""

    strength: float
    number: int

    @property
    def groups(self):
        return self


class Chooser:
    """Held-out records that like one strength best."""

    weights = None

    def __init__(self, best):
        self.best = best

    def log_scores(self, member, records, n_jobs):
        return np.full(2, -abs(np.log(member.strength / self.best)))


def beside(recipe):
    """Yield recipes of the next strengths."""
    at = STRENGTHS.index(recipe.smoothing)
    for strength in STRENGTHS[max(at - 1, 0) : at] + STRENGTHS[at + 1 : at + 2]:
        yield recipe._replace(smoothing=strength)


@pytest.mark.parametrize("n_members", [1, 2, 4, 9])
@pytest.mark.parametrize("best", [0.03, 0.3, 1.0, 10.0])
def test_other_recipes_are_tried_while_that_helps(n_members, best):
    made = []

    def learn(recipe):
        made.append(Member(recipe.smoothing, len(made)))
        return made[-1]

    first = Member(1.0, -1)
    chosen, members = learn_average(learn, first, FIRST, n_members, Chooser(best), 1, beside)
    assert chosen == FIRST._replace(smoothing=members[0].strength)
    assert len(members) == n_members
    assert len({member.number for member in members}) == n_members
    expected = best if n_members > 1 else 1.0
    assert {member.strength for member in members} == {expected}
    assert (first in members) == (expected == 1.0)
    # Nothing further than one step too far was learnt.
    near = range(STRENGTHS.index(min(expected, 1.0)) - 1, STRENGTHS.index(max(expected, 1.0)) + 2)
    assert {STRENGTHS.index(member.strength) for member in made} <= set(near)


def test_without_records_to_choose_by_the_recipe_stays():
    recipe = FIRST._replace(smoothing=0.3)
    chosen, members = learn_average(
        lambda r: Member(r.smoothing, 1), Member(0.3, 0), recipe, 4, None, 1, beside
    )
    assert chosen == recipe
    assert [member.strength for member in members] == [0.3] * 4


@pytest.mark.parametrize("best", [0.3, 3.0, 30.0])
def test_another_kind_is_taken_where_its_average_is_better(best):
    other = Recipe(8, 10.0, 4, splits=2, power=0.7)
    chosen, members = learn_average(
        lambda r: Member(r.smoothing, 1), Member(1.0, 0), FIRST, 3, Chooser(best), 1,
        lambda recipe: iter([other]),
    )  # fmt: skip
    assert (chosen.splits == 2) == (best > np.sqrt(10))
    assert {member.strength for member in members} == {chosen.smoothing}


def test_an_average_is_foretold_from_a_few():
    """Members that err in different ways gain by being many, those that err alike do not."""
    assert foretell(-10.0, -10.0, 5, 30) == -10.0
    gain, limit = 2.0, -8.0
    logs = {n: limit - gain / n for n in (1, 5, 30)}
    assert foretell(logs[1], logs[5], 5, 30) == pytest.approx(logs[30])
    assert foretell(logs[1], logs[5], 5, 5) == pytest.approx(logs[5])


def test_members_that_differ_are_preferred_to_better_ones_that_do_not():
    """Of an average of two, the better members are best; of many, those that err apart."""
    rng = np.random.default_rng(0)

    @dataclass
    class Noisy:
        recipe: Recipe
        logs: np.ndarray

        @property
        def groups(self):
            return self

    class Logs:
        weights = None

        def log_scores(self, member, records, n_jobs):
            return member.logs

    alike, apart = FIRST, FIRST._replace(smoothing=0.1)

    def learn(recipe):
        noise = 0.1 if recipe == alike else 1.5
        level = -5.0 if recipe == alike else -4.75 - noise**2 / 2
        return Noisy(recipe, level + noise * rng.standard_normal(4000))

    for n_members, expected in ((2, alike), (40, apart)):
        chosen, members = learn_average(
            learn, learn(alike), alike, n_members, Logs(), 1, lambda recipe: iter([apart])
        )
        assert chosen == expected
        assert {member.recipe for member in members} == {expected}
