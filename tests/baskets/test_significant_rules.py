"""SignificantRules: what is reported, what is said of it, and what is refused."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles import significant as oracle
from support.files import assert_damage_is_an_error
from tacit import FileError, InputError, SignificantRules, Table, store
from tacit.baskets.significant.effects import step_up

EXPECTED = {}


@parametrize_with_checks(
    [SignificantRules(n_permutations=39, random_state=0, value=None)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_frame(n=400, seed=0):
    """Draw records of which those with a = x and b are often returned."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "a": rng.choice(["x", "y", "z"], n, p=[0.5, 0.3, 0.2]),
            "b": rng.random(n) < 0.4,
            "c": rng.integers(0, 2, n),
            "d": [None if k == 0 else f"d{k}" for k in rng.integers(0, 4, n)],
        }
    )
    rate = np.where((frame["a"] == "x").to_numpy() & frame["b"].to_numpy(), 0.9, 0.2)
    return frame.with_columns(returned=pl.Series(rng.random(n) < rate))


FRAME = make_frame()


def held_items(frame, defaults=()):
    """Return all items of a frame, and the records that hold each."""
    items, held = [], []
    for name in frame.columns:
        for label in frame[name].unique(maintain_order=True).sort().to_list():
            if name in ("b", "c") and not label and name not in defaults:
                continue  # absence is no item
            items.append((name, label))
            held.append(np.array([x == label for x in frame[name]]))
    return items, np.array(held).T


def test_a_planted_rule_is_found_and_explained():
    sure = SignificantRules(random_state=1).fit(FRAME, "returned")
    rule = sure.rules_[0]
    assert rule.conditions == {"a": "x", "b": True}
    support = FRAME.filter((pl.col("a") == "x") & pl.col("b"))
    positives = support["returned"].sum()
    assert (rule.support, rule.positives) == (len(support), positives)
    rest = FRAME.filter((pl.col("a") != "x") | ~pl.col("b"))
    table = [
        [positives, len(support) - positives],
        [rest["returned"].sum(), (~rest["returned"]).sum()],
    ]
    exact = stats.fisher_exact(table)
    assert rule.p_value == pytest.approx(exact.pvalue, rel=1e-6)
    assert rule.log_p_value == pytest.approx(math.log(exact.pvalue), abs=1e-6)
    assert rule.odds_ratio == pytest.approx(exact.statistic)
    low, high = rule.odds_ratio_interval
    assert low < rule.odds_ratio < high
    known = stats.contingency.odds_ratio(table, kind="sample").confidence_interval()
    assert (low, high) == pytest.approx((known.low, known.high), rel=0.1)
    assert rule.risk_difference == pytest.approx(positives / len(support) - rest["returned"].mean())
    assert rule.adjusted_p_value == 1 / 1001
    assert (sure.target_, sure.value_) == ("returned", True)
    assert (sure.n_records_, sure.n_positives_) == (400, FRAME["returned"].sum())


@pytest.mark.parametrize("correction", ["permutation", "tarone"])
def test_what_is_reported_is_what_trying_all_finds(correction):
    frame = make_frame(250, 5)
    sure = SignificantRules(correction=correction, n_permutations=99, redundant=True)
    sure.set_params(random_state=np.random.default_rng(5)).fit(frame, "returned")
    _, held = held_items(frame.drop("returned"))
    labels = frame["returned"].to_numpy()
    all_sets = oracle.hypotheses(held)
    margins = len(labels), int(labels.sum())
    p = np.array(
        [
            oracle.p_value(*margins, int(h.sum()), int(labels[h].sum()), "fisher", "two-sided")
            for h in all_sets
        ]
    )
    if correction == "permutation":
        seed = int(np.random.default_rng(5).integers(2**63))
        permuted = tacit._core.permuted_labels(*margins, 99, seed, 1).astype(bool)
        limit, minima = oracle.westfall_young(
            all_sets, labels, permuted, 0.05, "fisher", "two-sided"
        )
        adjusted = (1 + (minima <= p[:, None] * (1 + 1e-8)).sum(axis=1)) / 100
        assert sure.threshold_ == pytest.approx(limit)
    else:
        n_tests, testable = oracle.tarone(all_sets, labels, 0.05, "fisher", "two-sided")
        adjusted = np.minimum(1, p * n_tests)
        assert sure.n_testable_ == testable
        assert sure.threshold_ == pytest.approx(0.05 / n_tests)
    assert sorted(rule.adjusted_p_value for rule in sure.rules_) == pytest.approx(
        sorted(adjusted[adjusted <= 0.05]), rel=1e-6
    )
    assert sure.n_significant_ == len(sure.rules_) > 5
    table = Table(frame)
    for rule in sure.rules_:
        assert table.count(rule.conditions) == rule.support
        assert table.count(rule.conditions | rule.implied) == rule.support
        assert table.count({**rule.conditions, "returned": True}) == rule.positives


def test_a_condition_that_can_be_left_out_is_implied():
    a = np.arange(60) % 3
    frame = pl.DataFrame({"a": a.astype(str), "b": np.where(a == 0, "p", "q"), "y": a == 0})
    [rule] = [
        rule
        for rule in SignificantRules(random_state=0).fit(frame, "y").rules_
        if rule.positives == rule.support
    ]
    assert [*rule.conditions, *rule.implied] in (["a", "b"], ["b", "a"])
    assert math.isinf(rule.odds_ratio)
    assert rule.odds_ratio_interval[0] > 1
    assert math.isinf(rule.odds_ratio_interval[1])


def test_step_up_procedures_are_scipys():
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(50) ** 3)
    for method, any_dependence in (("bh", False), ("by", True)):
        wanted = stats.false_discovery_control(p, method=method)
        np.testing.assert_allclose(step_up(np.log(p), 50, any_dependence=any_dependence), wanted)


@pytest.mark.parametrize("correction", ["yekutieli", "hochberg"])
def test_false_discoveries(correction):
    sure = SignificantRules(control="fdr", correction=correction, redundant=True)
    sure.fit(FRAME, "returned")
    family = SignificantRules(correction="tarone", redundant=True).fit(FRAME, "returned")
    assert sure.n_testable_ == family.n_testable_
    assert len(sure.rules_) >= len(family.rules_) - (correction == "yekutieli") * 100
    p = np.array([rule.p_value for rule in sure.rules_])
    each = p * sure.n_testable_ / np.arange(1, len(p) + 1)
    if correction == "yekutieli":
        each *= (1 / np.arange(1, sure.n_testable_ + 1)).sum()
    assert each[-1] <= 0.05
    assert max(rule.adjusted_p_value for rule in sure.rules_) <= 0.05
    assert sure.threshold_ == pytest.approx(p.max())


@pytest.mark.parametrize("correction", ["permutation", "tarone"])
def test_nothing_is_reported_where_there_is_nothing(correction):
    """Of 200 tables whose labels are shuffled, few have a rule: 5 % and four deviations at most."""
    rng = np.random.default_rng(8)
    frame = make_frame(150, 9)
    X, y = frame.drop("returned"), frame["returned"].to_numpy()
    sure = SignificantRules(correction=correction, n_permutations=99)
    reported = sum(
        bool(clone(sure).set_params(random_state=k).fit(X, rng.permutation(y)).rules_)
        for k in range(200)
    )
    assert reported <= 10 + 4 * math.sqrt(200 * 0.05 * 0.95)
    if correction == "permutation":  # which is not far below its level
        assert reported >= 1


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_and_defaults_do_not_matter(n_jobs, visits):
    sure = SignificantRules(random_state=3, n_permutations=199, default_conditions=True)
    table = visits.select(["region", "device", "news", "sports", "scores", "football"])
    wanted = sure.fit(table, "scores").rules_
    assert len(wanted) > 5
    assert clone(sure).set_params(n_jobs=n_jobs).fit(table, "scores").rules_ == wanted
    other = table.with_defaults({"region": "west", "news": True})
    assert clone(sure).fit(other, "scores").rules_ == wanted


def test_a_weight_of_two_is_the_record_twice():
    rng = np.random.default_rng(0)
    often = rng.integers(0, 4, len(FRAME))
    twice = FRAME[np.repeat(np.arange(len(FRAME)), often)]
    sure = SignificantRules(random_state=0)
    wanted = sure.fit(twice, "returned").rules_
    X, y = FRAME.drop("returned"), FRAME["returned"]
    assert clone(sure).fit(X, y, often).rules_ == wanted
    weighted = Table(FRAME).with_weights(often)
    assert clone(sure).fit(weighted, "returned").rules_ == wanted


def test_which_items_there_are():
    def columns(**settings):
        sure = SignificantRules(redundant=True, alpha=0.9, n_permutations=39, max_size=1,
                                random_state=0, **settings)  # fmt: skip
        rules = sure.fit(FRAME, "returned").rules_
        return {item for rule in rules for item in rule.conditions.items()}

    absences = {("b", False), ("c", 0)}
    assert not columns() & absences
    assert ("b", False) in columns(default_conditions=True)
    stored = columns(default_conditions=False)
    assert ("b", True) in stored
    assert ("a", "x") not in stored  # the most common label
    assert {("d", None)} <= columns(alternative="two-sided") | {("d", None)}
    assert ("d", None) not in columns(missing="ignore")
    with pytest.raises(InputError, match="X: column 'd' has missing values"):
        columns(missing="error")


def test_sizes_and_supports():
    sure = SignificantRules(max_size=1, redundant=True, random_state=0).fit(FRAME, "returned")
    assert {len(rule.conditions) for rule in sure.rules_} == {1}
    few = SignificantRules(min_support=150, redundant=True, random_state=0).fit(FRAME, "returned")
    assert few.rules_
    assert min(rule.support for rule in few.rules_) >= 150
    assert few.least_support_ >= 150
    more = SignificantRules(alternative="greater", random_state=0).fit(FRAME, "returned")
    assert min(rule.odds_ratio for rule in more.rules_) > 1
    less = SignificantRules(alternative="less", random_state=0).fit(FRAME, "returned")
    assert max(rule.odds_ratio for rule in less.rules_) < 1


def test_baskets_and_the_positive_class():
    rng = np.random.default_rng(1)
    baskets = [
        {"milk", *(["bread"] if rng.random() < 0.9 else []), *rng.choice(["tea", "jam"], 1)}
        if k % 2
        else {"beer", *rng.choice(["tea", "jam"], 1)}
        for k in range(80)
    ]
    sure = SignificantRules(random_state=0).fit(baskets, "bread")
    assert sure.rules_[0].conditions in ({"milk": True}, {"beer": True})
    y = np.array(["no", "yes", "maybe"])[rng.integers(0, 3, 80)]
    with pytest.raises(InputError, match=r"value: y has 3 classes .*say which one is positive"):
        SignificantRules().fit(baskets, y)
    assert SignificantRules(value="maybe", random_state=0).fit(baskets, y).value_ == "maybe"
    named = pd.DataFrame({"a": [1, 2] * 20, "y": ["no", "yes"] * 20})
    assert SignificantRules(random_state=0).fit(named, "y").value_ == "yes"
    swapped = SignificantRules(value="no", random_state=0).fit(named, "y")
    assert swapped.n_positives_ == 20


def test_numbers_are_cut():
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 500)
    frame = pl.DataFrame({"age": age, "y": age > 65})
    sure = SignificantRules(discretise=tacit.Edges((40, 65)), alternative="greater", random_state=0)
    [rule] = sure.fit(frame, "y").rules_
    assert rule.conditions == {"age": ">= 65"}


def test_text_frame_page_and_picture(capsys):
    sure = SignificantRules(random_state=1, verbose=1).fit(FRAME, "returned")
    assert "testable hypotheses" in capsys.readouterr().err
    lines = sure.to_text(top=1).splitlines()
    assert lines[0].startswith("returned = True, ")
    assert lines[1].startswith("  a = x, b = True: ")
    assert len(lines) == 2
    assert len(sure.to_text(None).splitlines()) == 1 + len(sure.rules_)
    frame = sure.to_frame()
    assert frame["p_value"].to_list() == [rule.p_value for rule in sure.rules_]
    assert frame["odds_ratio_low"][0] == sure.rules_[0].odds_ratio_interval[0]
    assert len(sure.to_frame(top=1)) == 1
    assert sure.to_html(top=1).count("<tr>") == 2
    assert len(sure.plot(top=2).patches) == 2
    nothing = clone(sure).set_params(verbose=0, min_support=400).fit(FRAME, "returned")
    assert nothing.rules_ == []
    assert nothing.to_frame().schema == frame.schema
    assert len(nothing.to_text().splitlines()) == 1
    with pytest.raises(NotFittedError):
        SignificantRules().to_text()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0}, "alpha must be a finite number above 0"),
        ({"alpha": 1}, "alpha must be"),
        ({"control": "fwe"}, "control must be .* did you mean 'fwer'"),
        ({"correction": "bonferroni"}, "correction must be 'permutation' or 'tarone'"),
        ({"correction": "hochberg"}, "correction: control='fwer' is kept by 'permutation' or"),
        ({"control": "fdr", "correction": "tarone"}, "correction: control='fdr' is kept by"),
        ({"test": "t"}, "test must be"),
        ({"alternative": "both"}, "alternative must be"),
        ({"n_permutations": 0}, "n_permutations"),
        ({"n_permutations": 18}, "n_permutations: 18 are too few for alpha=0.05, take 19"),
        ({"min_support": 0}, "min_support"),
        ({"min_support": 0.1}, "min_support"),
        ({"max_size": 0}, "max_size"),
        ({"redundant": "no"}, "redundant must be True or False"),
        ({"default_conditions": "no"}, "default_conditions must be True or False"),
        ({"missing": "drop"}, "missing must be"),
        ({"level": 1}, "level must be a finite number above 0 and below 1"),
        ({"value": "yes"}, "value: y has no class 'yes'"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_parameters_are_checked(settings, message):
    with pytest.raises(InputError, match=message):
        SignificantRules(**settings).fit(FRAME, "returned")


def test_targets_and_weights_are_checked():
    X = FRAME.drop("returned")
    with pytest.raises(InputError, match="requires y to be passed"):
        SignificantRules().fit(X)
    with pytest.raises(InputError, match=r"y: .*'retuned'"):
        SignificantRules().fit(FRAME, "retuned")
    with pytest.raises(InputError, match="nothing to tell apart"):
        SignificantRules().fit(X, np.ones(400))
    with pytest.raises(InputError, match="every record is False"):
        SignificantRules(value=False).fit(X, np.zeros(400, bool))
    with pytest.raises(InputError, match=r"record 3 has the weight 0.5; .*whole numbers"):
        SignificantRules().fit(X, FRAME["returned"], np.r_[1, 1, 1, 0.5, np.ones(396)])
    with pytest.raises(InputError, match="real numbers"):
        SignificantRules().fit(X, np.linspace(0, 1, 400))
    before = FRAME.clone()
    fitted = SignificantRules(random_state=0).fit(FRAME, "returned")
    rules = fitted.rules_
    with pytest.raises(InputError):
        fitted.fit(X, np.ones(400))
    assert fitted.rules_ is rules
    assert FRAME.equals(before)


@pytest.mark.parametrize("form", ["frame", "table", "array", "none"])
def test_saving(form, tmp_path):
    sure = SignificantRules(random_state=4, redundant=True, value=True)
    if form == "array":
        codes = np.random.default_rng(0).integers(0, 2, (100, 4))
        sure.set_params(value=None).fit(codes, codes[:, 0] | codes[:, 1])
    elif form == "none":
        sure.set_params(min_support=400).fit(FRAME, "returned")
    else:
        sure.fit(FRAME if form == "frame" else Table(FRAME), "returned")
    path = tmp_path / "rules.tacit"
    sure.save(path)
    again = tacit.load(path)
    assert again.rules_ == sure.rules_
    assert again.to_text() == sure.to_text()
    assert again.get_params() == sure.get_params()
    for name in ("threshold_", "n_testable_", "n_significant_", "least_support_", "n_records_",
                 "n_positives_", "target_", "value_", "n_features_in_"):  # fmt: skip
        assert getattr(again, name) == getattr(sure, name), name


def test_damaged_files(tmp_path):
    path = tmp_path / "rules.tacit"
    SignificantRules(random_state=4, redundant=True).fit(FRAME, "returned").save(path)
    kind, arrays = store.read_arrays(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    for name in arrays:
        store.write_arrays(path, kind, {k: v for k, v in arrays.items() if k != name})
        with pytest.raises(FileError, match=f"is damaged: it has no {name!r}"):
            tacit.load(path)
    wrong = {
        "support": arrays["support"] * 1000, "positives": -arrays["positives"] - 1,
        "log_p": arrays["log_p"][::-1].copy(), "adjusted": arrays["adjusted"] + 2,
        "conditions": arrays["conditions"] + 99, "implied_start": arrays["implied_start"] + 1,
        "condition_start": np.zeros_like(arrays["condition_start"]),
    }  # fmt: skip
    for name, array in wrong.items():
        store.write_arrays(path, kind, arrays | {name: array})
        with pytest.raises(FileError, match="is damaged"):
            tacit.load(path)
    store.write_arrays(path, kind, arrays)
    assert_damage_is_an_error(path, 20)


def test_rules_are_made_when_they_are_asked_for():
    sure = SignificantRules(random_state=0, redundant=True).fit(FRAME, "returned")
    rules, every = sure.rules_, list(sure.rules_)
    assert len(rules) == len(every) > 2
    assert rules[1] == every[1]
    assert rules[-1] == every[-1]
    assert rules[1:3] == every[1:3]
    assert rules[::-1] == every[::-1]
    assert rules == every
    assert rules != every[1:]
    assert rules != "rules"
    with pytest.raises(IndexError):
        rules[len(rules)]
    frame = sure.to_frame()
    for name in ("support", "positives", "confidence", "p_value", "adjusted_p_value", "odds_ratio",
                 "risk_difference"):  # fmt: skip
        assert frame[name].to_list() == [getattr(rule, name) for rule in every]
    for k, end in enumerate(("odds_ratio_low", "odds_ratio_high")):
        assert frame[end].to_list() == [rule.odds_ratio_interval[k] for rule in every]
    assert sure.to_frame(2).equals(frame[:2])
    # What a rule implies is in all of its records, beside its conditions.
    table = Table(FRAME)
    for rule in every[:20]:
        assert not set(rule.implied) & set(rule.conditions)
        assert table.count(rule.conditions) == rule.support
        assert table.count(rule.conditions | rule.implied) == rule.support
