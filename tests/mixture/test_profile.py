"""Profiles: their numbers against obvious ones, what is listed, and the forms they take."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tacit
from tacit import InputError, Table
from tacit.mixture import Profile
from tacit.mixture.profile.lifts import divergence

NASTY = "<b onclick='x()'>&\"quoted\"</b>"


@st.composite
def clustered_tables(draw):
    """Draw a small table with missing values and some default, and the cluster of each record."""
    m, k = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    columns = {
        "a": draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=m, max_size=m)),
        "b": draw(st.lists(st.booleans(), min_size=m, max_size=m)),
        "c": draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)),
    }
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 1, 2]), min_size=m, max_size=m))
    labels = draw(st.lists(st.integers(0, k - 1), min_size=m, max_size=m))
    return columns, weights, np.array(labels)


def obvious(columns, weights, labels, prior, level=0.95):
    """Return probability, share, lift and both ends by (cluster, column, label)."""
    weight = np.ones(len(labels)) if weights is None else np.array(weights, float)
    rows = {}
    for k in range(labels.max() + 1):
        own = labels == k
        for name, values in columns.items():
            for label in set(values):
                has = np.array([x == label for x in values])
                share = weight[has].sum() / weight.sum()
                a = weight[has & own].sum() + prior * share
                b = weight[~has & own].sum() + prior * (1 - share)
                ends = stats.beta(a, b).ppf([(1 - level) / 2, (1 + level) / 2]) if b else [1, 1]
                text = None if label is None else str(label)
                rows[k, name, text] = (a / (a + b), share, a / (a + b) / share, *(ends / share))
    return rows


@given(clustered_tables(), st.sampled_from([0.5, 1.0, 3.0]), st.data())
def test_numbers_are_the_obvious_ones_whatever_the_defaults(drawn, prior, data):
    columns, weights, labels = drawn
    table = Table(pl.DataFrame(columns, schema_overrides={"a": pl.String}), weights=weights)
    defaults = {c.name: data.draw(st.sampled_from(list(c.labels))) for c in table.schema}
    profile = Profile.from_labels(table.with_defaults(defaults), labels, prior=prior)
    found = profile.to_frame()
    wanted = obvious(columns, weights, labels, prior)
    assert len(found) == len(wanted)
    for cluster, size, name, label, *numbers in found.iter_rows():
        weight = np.ones(len(labels)) if weights is None else np.array(weights)
        assert size == pytest.approx(weight[labels == cluster].sum())
        assert numbers == pytest.approx(wanted[cluster, name, label], rel=1e-6, abs=1e-9)


@given(clustered_tables(), st.integers(1, 3))
def test_listed_values_are_the_clearest(drawn, n):
    columns, weights, labels = drawn
    table = Table(pl.DataFrame(columns, schema_overrides={"a": pl.String}), weights=weights)
    profile = Profile.from_labels(table, labels)
    rows = {(r[0], r[2], r[3]): r[4:] for r in profile.to_frame().iter_rows()}
    for k, cluster in enumerate(profile.traits(n)):
        for sign, traits in ((1, cluster.over), (-1, cluster.under)):
            cautious = []
            for trait in traits:
                text = None if trait.label is None else str(trait.label)
                assert trait[2:] == pytest.approx(rows[k, trait.column, text])
                assert (trait.lower > 1) if sign > 0 else (trait.upper < 1)
                near = min(trait.lower, trait.lift) if sign > 0 else max(trait.upper, trait.lift)
                cautious.append(abs(divergence(np.array(near * trait.overall), trait.overall)))
            assert cautious == sorted(cautious, reverse=True)
            assert len(traits) <= n
            if len(traits) < n:  # then there is nothing else that could be
                shown = {(t.column, t.label) for t in traits}
                for name in ("a", "c"):
                    column = table.schema[name]
                    if column.arity == 2:
                        continue
                    for label in set(column.labels) - {column.default_label}:
                        text = None if label is None else str(label)
                        *_, lower, upper = rows[k, name, text]
                        if (name, label) not in shown:
                            assert not (lower > 1 + 1e-9 if sign > 0 else upper < 1 - 1e-9)


@given(clustered_tables())
def test_a_long_list_begins_like_a_short_one(drawn):
    columns, weights, labels = drawn
    table = Table(pl.DataFrame(columns, schema_overrides={"a": pl.String}), weights=weights)
    profile = Profile.from_labels(table, labels)
    for short, long in zip(profile.traits(1), profile.traits(50), strict=True):
        assert short.over == long.over[:1]
        assert short.under == long.under[:1]


@pytest.fixture(scope="module")
def profile(visits):
    """Clusters that are known: those who look at scores, other people of the north, the rest."""
    scores = np.zeros(visits.n_records, bool)
    scores[visits.where({"scores": True})] = True
    north = np.zeros(visits.n_records, bool)
    north[visits.where({"region": "north"})] = True
    return Profile.from_labels(visits, np.where(scores, 1, np.where(north, 2, 0)))


class TestWhatIsListed:
    def test_clusters_are_told_by_what_made_them(self, profile, visits):
        rest, scores, north = profile.traits()
        assert scores.over[0][:2] == ("scores", True)
        assert {t.column for t in scores.over[:3]} == {"scores", "sports", "football"}
        assert north.over[0][:2] == ("region", "north")
        assert {t[:2] for t in rest.under[:2]} == {("region", "north"), ("scores", True)}
        assert scores.size == visits.count({"scores": True})
        assert scores.fraction == pytest.approx(scores.size / 20_000)

    def test_one_of_two_labels_is_enough(self, profile):
        for cluster in profile.traits(100):
            for trait in (*cluster.over, *cluster.under):
                assert trait.label is not False

    def test_a_value_is_listed_once(self, profile):
        for cluster in profile.traits(100):
            listed = [t[:2] for t in (*cluster.over, *cluster.under)]
            assert len(listed) == len(set(listed))

    def test_a_default_that_stands_out(self):
        # Everyone in the first cluster has the default; the others are spread over four labels.
        sky = ["grey"] * 200 + ["blue", "red", "black", "white"] * 30 + ["grey"] * 10
        table = Table({"sky": sky})
        assert table.schema["sky"].default_label == "grey"
        profile = Profile.from_labels(table, np.repeat([0, 1], [200, 130]))
        first, second = profile.traits()
        assert [t.label for t in first.over] == ["grey"]
        assert second.under[0].label == "grey"

    def test_a_default_that_does_not(self, visits):
        here = np.zeros(visits.n_records, np.int64)
        here[visits.where({"region": "north"})] = 1
        for cluster in Profile.from_labels(visits, here).traits(100):
            assert ("region", "south") not in [t[:2] for t in cluster.over]

    def test_few_records_do_not_come_first(self):
        # One record of a small cluster has what nobody else has; four of five have a common value.
        rare, common = np.zeros(1005, bool), np.zeros(1005, bool)
        rare[0] = True
        common[:4] = common[10:110] = True
        labels = np.repeat([0, 1], [5, 1000])
        [small, _] = Profile.from_labels(Table({"rare": rare, "common": common}), labels).traits()
        assert [t.column for t in small.over] == ["common", "rare"]
        assert small.over[1].lift > small.over[0].lift

    def test_of_records_all_alike_nothing_is_said(self):
        table = Table({"a": [0, 1] * 50, "b": ["x"] * 100})
        profile = Profile.from_labels(table, np.repeat([0, 1], 50))
        assert all(not c.over and not c.under for c in profile.traits())
        assert profile.to_text().count("nothing sets it apart") == 2
        assert profile.to_html().count("Nothing sets it apart") == 2

    def test_level_widens_intervals(self, profile, visits):
        schema = visits.schema
        kept = profile._lifts
        wide = Profile(
            schema, profile.sizes, kept.counts[schema.value_cells], np.ones(schema.cells[-1]),
            level=0.999,
        )  # fmt: skip
        [narrow_trait, wide_trait] = [p.traits()[1].over[0] for p in (profile, wide)]
        assert wide_trait.lower < narrow_trait.lower < narrow_trait.upper < wide_trait.upper


class TestIgnoredCells:
    def test_missing_values_say_nothing(self):
        values = ["x", "y", None, "x", "y", "y", None, None, "z", "x"]
        labels = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
        table = Table({"a": values})
        there = np.array([v is not None for v in values])
        whole = Profile.from_labels(
            Table({"a": [v for v in values if v is not None]}), labels[there], prior=0
        )
        for default in ("x", "z", None):
            stored = table.with_defaults({"a": default})
            schema = stored.schema
            counts = np.zeros((schema.n_values, 2))
            for record, cluster in enumerate(labels):
                ids = stored.values[stored.indptr[record] : stored.indptr[record + 1]]
                counts[ids, cluster] += 1
            ignored = [schema.labels[0].missing]
            profile = Profile(schema, [5, 5], counts, np.zeros(4), ignored=ignored)
            columns = ["cluster", "label", "probability", "overall", "lift", "lower", "upper"]
            left, right = (p.to_frame().select(columns) for p in (profile, whole))
            assert left.select("cluster", "label").equals(right.select("cluster", "label"))
            assert np.allclose(left[:, 2:].to_numpy(), right[:, 2:].to_numpy())

    def test_of_two_labels_beside_a_missing_default_the_rarer_is_listed(self):
        table = Table({"a": [None] * 200 + ["x"] * 60 + ["y"] * 40}, defaults={"a": None})
        labels = np.repeat([0, 1, 0, 1, 0], [100, 100, 60, 30, 10])
        schema = table.schema
        counts = np.array([[60, 0], [10, 30]])
        profile = Profile(schema, np.bincount(labels), counts, [0.6, 0.4, 0], ignored=[2])
        first, second = profile.traits()
        assert [t.label for t in (*first.over, *first.under)] == ["y"]
        assert [t.label for t in second.over] == ["y"]


class TestExtremes:
    def test_an_empty_cluster_is_like_all_records(self):
        table = Table({"a": [True, False, False, False]})
        for prior in (0.0, 1.0):
            profile = Profile.from_labels(table, [0, 0, 2, 2], prior=prior)
            assert profile.sizes.tolist() == [2, 0, 2]
            frame = profile.to_frame().filter(pl.col("cluster") == 1, pl.col("label") == "True")
            assert frame["probability"].item() == 0.25
            assert frame["lift"].item() == 1
            assert profile.traits()[1].over == []

    def test_without_a_prior_a_share_may_be_nothing_or_all(self):
        table = Table({"a": [True] * 9 + [False] * 30})
        profile = Profile.from_labels(table, np.repeat([0, 1], [9, 30]), prior=0)
        frame = profile.to_frame().filter(pl.col("label") == "True")
        assert frame["probability"].to_list() == [1, 0]
        assert frame["lower"].to_list() == frame["upper"].to_list() == frame["lift"].to_list()
        assert [c.over[0].text for c in profile.traits()[:1]] == ["a"]

    def test_a_label_that_no_record_has(self):
        table = Table({"a": ["x", "y", "y", "z"]}).take([0, 1, 2])
        profile = Profile.from_labels(table, [0, 1, 1])
        row = profile.to_frame().filter(pl.col("label") == "z").row(0, named=True)
        assert (row["overall"], row["lift"], row["lower"], row["upper"]) == (0, None, None, None)
        assert all(t.label != "z" for c in profile.traits(9) for t in (*c.over, *c.under))

    def test_a_weight_of_two_is_the_record_twice(self):
        columns = {"a": [True, False, True, False], "b": [0, 1, 2, 2]}
        twice = {name: [x for x in values for _ in (0, 1)] for name, values in columns.items()}
        heavy = Profile.from_labels(Table(columns, weights=[2, 2, 2, 2]), [0, 0, 1, 1])
        double = Profile.from_labels(Table(twice), np.repeat([0, 0, 1, 1], 2))
        assert heavy.to_frame().equals(double.to_frame())


class TestForms:
    def test_frame(self, profile, visits):
        frame = profile.to_frame()
        assert frame.columns == [
            "cluster", "size", "column", "label", "probability", "overall", "lift", "lower",
            "upper",
        ]  # fmt: skip
        assert frame.height == 3 * visits.schema.cells[-1]
        assert frame["cluster"].dtype == pl.Int64
        sums = frame.group_by("cluster", "column").agg(pl.col("probability", "overall").sum())
        assert np.allclose(sums[:, 2:].to_numpy(), 1)
        assert frame.filter(pl.col("column") == "device")["label"].null_count() == 3

    def test_text(self, profile):
        text = profile.to_text(top=2)
        assert text.startswith("3 clusters of 20,000 records; lifts with 95% intervals\n\n")
        head, *lines = text.split("\n\n")[2].splitlines()
        assert re.fullmatch(r"cluster 1: 1,677 records \(8\.4%\)", head)
        assert re.fullmatch(
            r"  more  scores +\S+%  overall +8\.4%  lift +\d+\.\d  \[\d+\.\d, \d+\.\d\]", lines[0]
        )
        assert [line[2:6] for line in lines] == ["more", "    ", "less", "    "]

    def test_names(self, visits):
        labels = np.arange(visits.n_records) % 2
        profile = Profile.from_labels(visits, labels, names=["even", "odd"])
        assert [c.name for c in profile.traits()] == ["even", "odd"]
        assert "\neven: 10,000 records (50%)" in profile.to_text()
        assert profile.to_frame()["cluster"].unique(maintain_order=True).to_list() == [
            "even",
            "odd",
        ]

    def test_noise_is_no_cluster(self, visits):
        labels = np.arange(visits.n_records) % 3
        for n_named, heading in ((3, "2 clusters"), (1, "0 clusters")):
            names = ["a", "b", "noise"][-n_named:]
            profile = Profile.from_labels(visits, labels % n_named, names=names, noise=True)
            assert profile.to_text().startswith(f"{heading} of 20,000 records; ")
            assert f"<p>{heading} of 20,000 records</p>" in profile.to_html()
            assert [c.name for c in profile.traits()] == names

    def test_values_in_words(self):
        texts = [
            tacit.mixture.Trait("cart", True, *[0.5] * 5).text,
            tacit.mixture.Trait("cart", False, *[0.5] * 5).text,
            tacit.mixture.Trait("device", None, *[0.5] * 5).text,
            tacit.mixture.Trait("rooms", 3, *[0.5] * 5).text,
        ]
        assert texts == ["cart", "not cart", "device = (missing)", "rooms = 3"]

    def test_repr(self, profile):
        assert repr(profile) == "Profile(3 clusters of 20,000 records, 27 columns)"


class Reader(HTMLParser):
    """Collects the text of a page and checks that what is opened is closed."""

    VOID = ("meta", "br", "rect", "path", "circle", "polyline")

    def __init__(self):
        super().__init__()
        self.open, self.words, self.seen = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


class TestPage:
    def test_a_page_needs_nothing_else(self, profile):
        page = profile.to_html("Visitors", {"records": "20,000"})
        reader = read(page)
        assert page.startswith("<!DOCTYPE html>")
        for tag, attributes in reader.seen:
            assert tag not in ("script", "link", "img", "iframe", "object")
            assert "src" not in attributes
            assert attributes.get("href", "#").startswith("#")
        assert not re.search(r"url\(|@import|https?:", page)

    def test_what_it_says(self, profile):
        reader = read(profile.to_html("Visitors", [("records", "20,000")]))
        words = reader.words
        for said in ("Visitors", "records", "20,000", "scores", "region = north", "cluster 2"):
            assert said in words
        anchors = {a["id"] for tag, a in reader.seen if tag == "article"}
        assert anchors == {a["href"][1:] for tag, a in reader.seen if tag == "a"}
        assert len(anchors) == 3

    def test_everything_is_escaped(self):
        table = Table({NASTY: [NASTY, "x", "y"] * 30})
        profile = Profile.from_labels(table, np.tile([0, 1, 2], 30), names=[NASTY, "b", "c"])
        pages = [
            profile.to_html(NASTY, {NASTY: NASTY}, curve=[(1, 0.0), (2, 1.0)], criterion=NASTY),
            profile._repr_html_(),
        ]
        for page in pages:
            reader = read(page)
            assert all(tag != "b" or not attributes for tag, attributes in reader.seen)
            assert all("onclick" not in attributes for _, attributes in reader.seen)
            assert NASTY in reader.words

    def test_curve(self, profile):
        points = [(1, -50.0), (2, -20.0), (3, -10.5), (4, -12.0), (5, float("-inf"))]
        page = profile.to_html(curve=points, criterion="BIC")
        assert "How many clusters: BIC" in page
        reader = read(page)
        [label] = [a["aria-label"] for t, a in reader.seen if t == "svg" and "aria-label" in a]
        assert label == "BIC by number of clusters; chosen: 3"
        [line] = [a["points"] for t, a in reader.seen if t == "polyline"]
        assert len(line.split()) == 4
        assert "nan" not in page
        assert "How many clusters" not in profile.to_html(curve=[])
        rings = [a for t, a in reader.seen if t == "circle" and a["fill"] == "none"]
        assert len(rings) == 1
        assert "chosen: 3" in profile.to_html(curve=[(7, 1.0)])

    def test_bars_stay_inside(self, profile):
        for tag, attributes in read(profile.to_html()).seen:
            if tag == "rect":
                x, width = float(attributes["x"]), float(attributes["width"])
                assert 0 <= x <= x + width <= 160.05

    def test_notebooks(self, profile):
        shown = profile._repr_html_()
        reader = read(shown)
        assert "<html" not in shown
        assert "3 clusters of 20,000 records" in reader.words


class TestWrongInput:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"totals": [[1.0, 2.0]]}, r"totals must have shape \(K\), got \(1, 2\)"),
            ({"totals": []}, r"totals must have shape \(K\)"),
            ({"stored": np.ones((1, 3))}, r"stored must have shape \(1, 2\), got \(1, 3\)"),
            ({"stored": [[1.0, np.nan]]}, "stored must be finite and not negative"),
            ({"alphas": [1.0]}, r"alphas must have shape \(2\)"),
            ({"alphas": [1.0, -1.0]}, "alphas must be finite and not negative"),
            ({"names": ["one"]}, "names: 1 for 2 clusters"),
            ({"noise": 1}, "noise must be True or False, got 1"),
            ({"ignored": [2]}, "ignored: there are only the cells 0 to 1"),
            ({"ignored": [0.5]}, "ignored must be a list of cells"),
            ({"level": 1}, "level must be a number between 0 and 1, got 1"),
            ({"level": "high"}, "level must be a number between 0 and 1"),
        ],
    )
    def test_arguments(self, change, message):
        schema = Table({"a": [True, False, False]}).schema
        fine = {"totals": [1.0, 2.0], "stored": [[1.0, 0.0]], "alphas": [1.0, 1.0]}
        Profile(schema, **fine)
        with pytest.raises(InputError, match=message):
            Profile(schema, **(fine | change))

    @pytest.mark.parametrize("labels", [[0, 1], [0, -1, 1], [0.0, 1.0, 1.0], [[0, 1, 1]]])
    def test_labels(self, labels):
        with pytest.raises(InputError, match="labels must be 3 integers"):
            Profile.from_labels(Table({"a": [True, False, False]}), labels)

    def test_numbers(self, profile):
        table = Table({"a": [True, False, False]})
        for prior in (-1, np.inf, np.nan):
            with pytest.raises(InputError, match="prior must be a number of at least 0"):
                Profile.from_labels(table, [0, 1, 1], prior=prior)
        for n in (0, 2.5, True):
            with pytest.raises(InputError, match="top must be a whole number of at least 1"):
                profile.traits(n)
            with pytest.raises(InputError, match="top must be a whole number of at least 1"):
                profile.plot(top=n)
