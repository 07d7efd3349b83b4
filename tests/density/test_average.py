"""Averages of mixtures: how smooth their members are."""

from dataclasses import dataclass

import numpy as np
import pytest

from tacit.density.average import learn_average
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


@pytest.mark.parametrize("n_members", [1, 2, 4, 9])
@pytest.mark.parametrize("best", [0.03, 0.3, 1.0, 10.0])
def test_members_smooth_less_while_that_helps(n_members, best):
    made = []

    def learn(recipe):
        made.append(Member(recipe.smoothing, len(made)))
        return made[-1]

    first = Member(1.0, -1)
    chosen, members = learn_average(learn, first, FIRST, n_members, Chooser(best), 1)
    assert chosen == FIRST._replace(smoothing=members[0].strength)
    assert len(members) == n_members
    assert len({member.number for member in members}) == n_members
    expected = min(best, 1.0) if n_members > 1 else 1.0
    assert {member.strength for member in members} == {expected}
    assert (first in members) == (expected == 1.0)
    tried = {member.strength for member in made}
    below = [s for s in STRENGTHS if s < expected]
    assert tried <= {s for s in STRENGTHS if s <= 1.0} - set(below[:-1])  # one step too far at most


def test_without_records_to_choose_by_the_strength_stays():
    recipe = FIRST._replace(smoothing=0.3)
    others = [FIRST]
    chosen, members = learn_average(
        lambda r: Member(r.smoothing, 1), Member(0.3, 0), recipe, 4, None, 1, others
    )
    assert chosen == recipe
    assert [member.strength for member in members] == [0.3] * 4


@pytest.mark.parametrize("best", [0.3, 3.0, 30.0])
def test_another_kind_is_taken_where_its_average_is_better(best):
    other = Recipe(8, 10.0, 4, splits=2, power=0.7)
    chosen, members = learn_average(
        lambda r: Member(r.smoothing, 1), Member(1.0, 0), FIRST, 3, Chooser(best), 1, [other]
    )
    assert (chosen.splits == 2) == (best > np.sqrt(10))
    assert {member.strength for member in members} == {chosen.smoothing}
