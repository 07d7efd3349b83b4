"""Interventions, soft evidence, labels of some columns and what to ask: against the whole joint."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.nets import conditioned, marginal, net_file, nets, sprinkler
from tacit import BayesNet, InputError
from tacit.network.inference import elimination


@st.composite
def suppositions(draw):
    """A net; codes that are given and set, and likelihoods, of which something remains possible."""
    net = draw(nets())
    n = len(net.column_names_)
    roles = draw(
        st.lists(st.sampled_from(["free", "given", "do", "likely"]), min_size=n, max_size=n)
    )
    roles[draw(st.integers(0, n - 1))] = "free"
    codes = [draw(st.integers(0, int(a) - 1)) for a in net.schema_.arities]
    weights = {
        c: np.array(draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]),
                                  min_size=int(a), max_size=int(a))))
        for c, a in enumerate(net.schema_.arities) if roles[c] == "likely"
    }  # fmt: skip
    weights = {c: w if w.any() else np.ones(len(w)) for c, w in weights.items()}
    do = {c: codes[c] for c in range(n) if roles[c] == "do"}
    joint = slow_joint(net, do, weights)
    cells = np.argwhere(joint > 0)
    if not len(cells):
        weights, joint = {}, slow_joint(net, do, {})
        cells = np.argwhere(joint > 0)
    cell = cells[draw(st.integers(0, len(cells) - 1))]
    known = {c: int(cell[c]) for c in range(n) if roles[c] == "given"}
    free = [c for c in range(n) if c not in known and c not in do]
    targets = draw(st.permutations(free))[: draw(st.integers(1, len(free)))]
    return net, known, do, weights, targets


def slow_joint(net, do, weights):
    """Return the truncated factorisation, times what is likely, of every combination of codes."""
    arities = net.schema_.arities.tolist()
    joint = np.zeros(arities)
    for cell in product(*map(range, arities)):
        chance = 1.0
        for c, name in enumerate(net.column_names_):
            if c in do:
                chance *= cell[c] == do[c]
            else:
                chance *= net.table(name)[tuple(cell[p] for p in net.parents_[c])][cell[c]]
            chance *= weights[c][cell[c]] if c in weights else 1.0
        joint[cell] = chance
    return joint


def said(net, known, do, weights):
    def named(codes):
        return {net.column_names_[c]: net.schema_.labels[c][k] for c, k in codes.items()}

    likelihood = {
        net.column_names_[c]: dict(zip(net.schema_.labels[c], w.tolist(), strict=True))
        for c, w in weights.items()
    }
    return {"given": named(known), "do": named(do), "likelihood": likelihood}


@given(suppositions())
def test_query_and_marginals(supposed):
    net, known, do, weights, targets = supposed
    joint, total = conditioned(slow_joint(net, do, weights), known)
    options = said(net, known, do, weights)
    answer = net.query([net.column_names_[c] for c in targets], **options)
    np.testing.assert_allclose(answer.probabilities, marginal(joint, targets), atol=1e-12)
    assert answer.log_evidence == pytest.approx(math.log(total), abs=1e-10)
    assert (answer.given, answer.do, answer.likelihood) == tuple(options.values())
    for name, each in net.marginals(**options).items():
        place = net.schema_.position(name)
        assert place not in known
        assert place not in do
        np.testing.assert_allclose(each.probabilities, marginal(joint, [place]), atol=1e-12)


@given(suppositions(), st.booleans())
def test_most_probable(supposed, whole):
    net, known, do, weights, targets = supposed
    joint = slow_joint(net, do, weights)
    joint = joint * (conditioned(np.ones_like(joint), known)[0] > 0)
    options = said(net, known, do, weights)
    if whole:
        record, score = net.most_probable(**options)
        assert list(record) == list(net.column_names_)
        summed, targets = joint, list(range(joint.ndim))
    else:
        record, score = net.most_probable(
            columns=[net.column_names_[c] for c in targets], **options
        )
        assert list(record) == [net.column_names_[c] for c in targets]
        summed = marginal(joint, targets)
    cell = tuple(net.schema_[name].code(label) for name, label in record.items())
    assert score == pytest.approx(math.log(summed[cell]), abs=1e-10)
    assert summed[cell] == pytest.approx(summed.max())


@given(suppositions())
def test_value_of_information(supposed):
    net, known, do, weights, targets = supposed
    joint, _ = conditioned(slow_joint(net, do, weights), known)
    target = targets[0]
    frame = net.value_of_information(net.column_names_[target], **said(net, known, do, weights))

    def entropy(p):
        p = p[p > 0]
        return -(p * np.log(p)).sum()

    before = entropy(marginal(joint, [target]))
    asked = [c for c in range(joint.ndim) if c != target and c not in known and c not in do]
    assert sorted(frame["column"]) == sorted(net.column_names_[c] for c in asked)
    assert frame["gain"].is_sorted(descending=True)
    for name, gain, left in frame.iter_rows():
        both = marginal(joint, [target, net.schema_.position(name)])
        after = sum(p.sum() * entropy(p / p.sum()) for p in both.T if p.sum() > 0)
        assert left == pytest.approx(after, abs=1e-9)
        assert gain == pytest.approx(before - after, abs=1e-9)


def test_what_is_set_says_nothing_of_its_causes():
    net = sprinkler()
    assert net.query("rain", do={"sprinkler": "on"})["yes"] == pytest.approx(0.2)
    assert net.query("rain", {"sprinkler": "on"})["yes"] < 0.01
    wet = net.query("grass", do={"sprinkler": "on"})["wet"]
    assert wet == pytest.approx(0.8 * 0.9 + 0.2 * 0.99)
    assert "P(grass | do(sprinkler = on), rain = no)" in net.query(
        "grass", {"rain": "no"}, do={"sprinkler": "on"}
    )._repr_html_()  # fmt: skip


def test_only_ratios_of_likelihoods_matter():
    net = sprinkler()
    one = net.query("rain", likelihood={"grass": {"dry": 1, "wet": 4}})
    other = net.query("rain", likelihood={"grass": {"wet": 0.8, "dry": 0.2}})
    np.testing.assert_allclose(one.probabilities, other.probabilities)
    assert one.log_evidence - other.log_evidence == pytest.approx(math.log(5))
    certain = net.query("rain", likelihood={"grass": {"dry": 0, "wet": 2}})
    assert certain["yes"] == pytest.approx(net.query("rain", {"grass": "wet"})["yes"])


def test_labels_together_differ_from_those_of_the_most_probable_record():
    net = BayesNet.from_tables(
        {"a": [0, 1], "b": [0, 1, 2]}, {"b": ["a"]},
        {"a": [0.4, 0.6], "b": [[1.0, 0.0, 0.0], [0.3, 0.3, 0.4]]},
    )  # fmt: skip
    assert net.most_probable()[0]["a"] == 0
    record, score = net.most_probable(columns="a")
    assert record == {"a": 1}
    assert score == pytest.approx(math.log(0.6))


def test_a_wide_choice_by_elimination():
    """Two hundred columns in a chain: their joint distribution would fit nowhere."""
    n = 200
    rng = np.random.default_rng(0)
    names = [f"c{k}" for k in range(n)]
    tables = {name: rng.dirichlet([1, 1], size=[2] if k else []) for k, name in enumerate(names)}
    parents = {names[k]: [names[k - 1]] for k in range(1, n)}
    net = BayesNet.from_tables({name: [0, 1] for name in names}, parents, tables)
    even = names[::2]
    record, score = net.most_probable(columns=even)
    best = np.log(tables[names[0]])  # by dynamic programming
    for k in range(2, n, 2):
        step = np.log(tables[names[k - 1]] @ tables[names[k]])
        best = (best[:, None] + step).max(axis=0)
    assert score == pytest.approx(best.max())
    assert net.query(even[0], {x: record[x] for x in even[1:]}).most_probable() == {
        even[0]: record[even[0]]
    }


def test_on_a_real_net():
    net = BayesNet.read_bif(net_file("alarm"))
    asked = list(net.column_names_[:4])
    known = {net.column_names_[20]: net.schema_.labels[20][0]}
    joint = net.query(asked, known)
    record, score = net.most_probable(known, columns=asked)
    assert record == joint.most_probable()
    best = math.log(joint.probabilities.max()) + joint.log_evidence
    assert score == pytest.approx(best)


def test_too_wide_is_an_error(monkeypatch):
    n = 40  # causes of a common effect of which each pair has one: summing joins them all
    names = [f"c{k}" for k in range(n)]
    tables = {name: [0.5, 0.5] for name in names} | {"hub": [0.5, 0.5]}
    parents = {name: ["hub"] for name in names}
    tables |= {name: [[0.3, 0.7], [0.6, 0.4]] for name in names}
    columns = {name: [0, 1] for name in [*names, "hub"]}
    net = BayesNet.from_tables(columns, parents, tables)
    with pytest.raises(InputError, match="columns: their most probable labels need a table of 41"):
        net.most_probable(columns=names)
    monkeypatch.setattr(elimination, "_MOST_CELLS", 100)
    assert len(net.most_probable(columns=names[:3])[0]) == 3
    with pytest.raises(InputError, match="ask about fewer columns, or all"):
        net.most_probable(columns=names[:8])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"do": {"snow": "no"}}, "do: there is no column 'snow'"),
        ({"do": {"rain": "maybe"}}, "do: column 'rain' has no label 'maybe'"),
        ({"do": {"rain": None}}, "do: column 'rain' cannot be set to .* None"),
        ({"do": ["rain"]}, "do must map columns to labels, got list"),
        ({"given": {"rain": "no"}, "do": {"rain": "no"}}, "do: column 'rain' is known already"),
        ({"given": {"rain": "no"}, "likelihood": {"rain": {"no": 1, "yes": 1}}},
         "likelihood: column 'rain' is known already"),
        ({"likelihood": {"rain": "no"}}, "likelihood: column 'rain' needs {label: number, …}"),
        ({"likelihood": {"rain": {"no": 1}}}, "needs a number for every label; .* 'yes'"),
        ({"likelihood": {"rain": {"no": 1, "yes": -1}}}, "numbers from 0 on, got -1 for 'yes'"),
        ({"likelihood": {"rain": {"no": 1, "yes": math.nan}}}, "numbers from 0 on, got nan"),
        ({"likelihood": {"rain": {"no": 0, "yes": 0}}}, "has no label that is possible"),
        ({"likelihood": {"rain": {"no": 0, "maybe": 0}}}, "column 'rain' has no label 'maybe'"),
    ],
)  # fmt: skip
def test_wrong(options, message):
    net = sprinkler()
    for ask in (lambda **o: net.query("grass", **o), net.marginals, net.most_probable,
                lambda **o: net.value_of_information("grass", **o)):  # fmt: skip
        with pytest.raises(InputError, match=message):
            ask(**options)


def test_what_is_known_is_no_question():
    net = sprinkler()
    with pytest.raises(InputError, match="columns: column 'rain' is set by do"):
        net.query("rain", do={"rain": "no"})
    with pytest.raises(InputError, match="columns: column 'rain' is given"):
        net.most_probable({"rain": "no"}, columns=["rain", "grass"])
    with pytest.raises(InputError, match="target: column 'rain' is known already"):
        net.value_of_information("rain", {"rain": "no"})
    with pytest.raises(InputError, match="columns: column 'rain' is the target"):
        net.value_of_information("rain", columns=["grass", "rain"])
    with pytest.raises(InputError, match="columns: column 'grass' is known already"):
        net.value_of_information("rain", do={"grass": "wet"}, columns=["grass"])
    assert net.value_of_information("rain", columns=["grass"])["column"].to_list() == ["grass"]


def test_impossible():
    net = sprinkler()
    wet = {"sprinkler": "off", "grass": "wet"}
    dry_sky = {"likelihood": {"rain": {"no": 1, "yes": 0}}}
    for ask in (
        lambda: net.query("rain", wet, **dry_sky),
        lambda: net.most_probable(wet, **dry_sky),
        lambda: net.most_probable(wet, columns="rain", **dry_sky),
        lambda: net.value_of_information("rain", wet, **dry_sky),
        lambda: net.marginals(wet, do={"rain": "no"}),
    ):
        with pytest.raises(InputError, match="probability zero"):
            ask()
