"""The reference networks: read, written, asked, sampled, and learnt back."""

import math

import numpy as np
import pytest

import tacit
from support.nets import net_file
from tacit import BayesNet, InputError

# Columns, arcs and parameters, as the repository they come from lists them.
SIZES = {
    "alarm": (37, 46, 509), "andes": (223, 338, 1157), "asia": (8, 8, 18),
    "barley": (48, 84, 114_005), "cancer": (5, 4, 10), "child": (20, 25, 230),
    "diabetes": (413, 602, 429_409), "earthquake": (5, 4, 10), "hailfinder": (56, 66, 2656),
    "insurance": (27, 52, 1008), "link": (724, 1125, 14_211), "mildew": (35, 46, 540_150),
    "munin": (1041, 1397, 80_592), "munin1": (186, 273, 15_622), "munin2": (1003, 1244, 69_431),
    "munin3": (1041, 1306, 71_059), "munin4": (1038, 1388, 80_352),
    "pathfinder": (109, 195, 72_079), "pigs": (441, 592, 5618), "sachs": (11, 17, 178),
    "survey": (6, 6, 21), "water": (32, 66, 10_083),
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES)
def test_read_and_written_again(name, tmp_path):
    net = BayesNet.read_bif(net_file(name))
    assert (len(net.column_names_), net.n_arcs_, net.n_parameters_) == SIZES[name]
    net.save_bif(tmp_path / "net.bif")
    assert BayesNet.read_bif(tmp_path / "net.bif") == net
    net.save_xmlbif(tmp_path / "net.xml")
    assert BayesNet.read_xmlbif(tmp_path / "net.xml") == net
    net.save(tmp_path / "net.tacit")
    assert tacit.load(tmp_path / "net.tacit") == net


@pytest.fixture(scope="module")
def alarm():
    return BayesNet.read_bif(net_file("alarm"))


def test_a_table_is_what_a_query_says(alarm):
    for name in ("CATECHOL", "VENTLUNG", "HRSAT"):
        parents = [alarm.column_names_[p] for p in alarm.parents_[alarm.schema_.position(name)]]
        given = {parent: alarm.schema_[parent].labels[0] for parent in parents}
        first = (0,) * len(parents)
        np.testing.assert_allclose(
            alarm.query(name, given).probabilities, alarm.table(name)[first], atol=1e-12
        )


def test_evidence_multiplies(alarm):
    """P(a) P(b | a) = P(a, b), whichever way it is asked."""
    one = alarm.query("HRBP", {"CVP": "LOW"})
    both = alarm.query(["CVP", "HRBP"])
    assert one["HIGH"] * math.exp(one.log_evidence) == pytest.approx(both["LOW", "HIGH"])
    row = {name: [None] for name in alarm.column_names_} | {"CVP": ["LOW"], "HRBP": ["HIGH"]}
    assert alarm.score_samples(row)[0] == pytest.approx(math.log(both["LOW", "HIGH"]))


def test_the_most_probable_record_is_as_probable_as_it_says(alarm):
    record, score = alarm.most_probable({"HRBP": "HIGH", "PRESS": "HIGH"})
    assert record["PRESS"] == "HIGH"
    assert alarm.log_likelihood({k: [v] for k, v in record.items()}) == pytest.approx(score)
    drawn = alarm.sample(2000, given={"HRBP": "HIGH", "PRESS": "HIGH"}, random_state=0)
    assert alarm.score_samples(drawn).max() <= score + 1e-9


def test_marginals_are_shares_of_samples(alarm):
    marginals = alarm.marginals()
    counts = alarm.sample(20_000, random_state=0).one_way()
    for c, name in enumerate(alarm.column_names_):
        shares = counts.array(c) / 20_000
        np.testing.assert_allclose(marginals[name].probabilities, shares, atol=0.02)


def test_alarm_is_learnt_back(alarm):
    data = alarm.sample(20_000, random_state=0)
    net = BayesNet(n_restarts=2, random_state=2).fit(data)
    assert net.structural_hamming_distance(alarm) <= 12
    true = tacit.network.search.search.network_score(data, alarm.parents_)
    assert net.learning_.score > 1.01 * true  # scores are negative
    assert net.score(data) == pytest.approx(alarm.score(data), rel=0.01)


def test_munin_is_exact():
    munin = BayesNet.read_bif(net_file("munin"))
    marginals = munin.marginals()
    sums = [answer.probabilities.sum() for answer in marginals.values()]
    np.testing.assert_allclose(sums, 1.0)
    counts = munin.sample(5000, random_state=0).one_way()
    gaps = [
        np.abs(marginals[name].probabilities - counts.array(c) / 5000).max()
        for c, name in enumerate(munin.column_names_)
    ]
    assert max(gaps) < 0.04


def test_nets_too_wide_say_how_wide():
    """A grid of 40 × 40 binary columns, each of which depends on its neighbours."""
    side = 40
    names = [f"c{r}_{c}" for r in range(side) for c in range(side)]
    parents = {
        f"c{r}_{c}": [f"c{r - 1}_{c}"] * (r > 0) + [f"c{r}_{c - 1}"] * (c > 0)
        for r in range(side)
        for c in range(side)
    }
    tables = {name: np.full([2] * len(parents[name]) + [2], 0.5) for name in names}
    net = BayesNet.from_tables({name: [0, 1] for name in names}, parents, tables)
    with pytest.raises(InputError, match=r"clique of [0-9]+ columns"):
        net.marginals()
    assert len(net.sample(10)) == 10  # which needs no cliques
