"""Steps of EM and messages of trees against sums over every record there can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.tree_mixture import expected_cells, joint_of_groups, observed_sum
from support.tree_mixtures import mixtures, random_clusters, random_parents
from tacit import InputError, Table
from tacit.density.blocks import Blocks
from tacit.density.clusters import Prior, Tree, TreeClusters, cell_counts, count_ids, maximise
from tacit.density.layout import TreeLayout, orient
from tacit.density.learn import (
    Fit,
    Options,
    choose_clusters,
    choose_near,
    run_em,
    soft_start,
)
from tacit.density.messages import log_joint, most_probable, row_blocks
from tacit.density.observed import Observed
from tacit.density.source import Source


def ones(table):
    return np.ones(table.n_records) if table.weights is None else table.weights


class TestRecords:
    @given(mixtures())
    @settings(max_examples=60)
    def test_probabilities_are_products_of_tables(self, drawn):
        table, codes, groups = drawn
        joint = joint_of_groups(groups)
        assert joint.sum() == pytest.approx(1)
        expected = np.array([observed_sum(joint, record) for record in codes])
        records = Observed(table, table.weights)
        scores = records.log_scores(groups, None, 1)
        np.testing.assert_allclose(np.exp(scores), expected.sum(axis=1), rtol=1e-9)
        parts = records.posterior(groups, 1)
        np.testing.assert_allclose(
            parts, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-15
        )

    @given(mixtures(max_rows=5), st.data())
    @settings(max_examples=40)
    def test_what_is_not_known_is_summed_over(self, drawn, data):
        table, codes, groups = drawn
        seed = data.draw(st.integers(0, 2**32 - 1))
        hidden = np.random.default_rng(seed).random(codes.shape) < 0.4
        hidden[0] = False
        codes = np.where(hidden, -1, codes).astype(np.int32)
        joint = joint_of_groups(groups)
        expected = np.array([observed_sum(joint, record) for record in codes]).T
        np.testing.assert_allclose(np.exp(log_joint(groups, codes)), expected, rtol=1e-9)
        weights = ones(table)
        cells, log_likelihood = expected_cells(groups, codes, weights)
        complete = table.take([0])
        records = Observed(complete, weights, np.zeros(1, np.int64), codes[1:])
        found = records.expect(groups, None, 1)
        assert found[0].log_likelihood == pytest.approx(log_likelihood, rel=1e-9, abs=1e-12)
        for group, counts, wanted in zip(groups, found, cells, strict=True):
            np.testing.assert_allclose(
                cell_counts(group.layout, counts), wanted, rtol=1e-8, atol=1e-10
            )

    @given(mixtures(max_columns=4))
    @settings(max_examples=40)
    def test_the_most_probable_record_of_each_cluster(self, drawn):
        _, codes, groups = drawn
        given_codes = np.where(np.arange(codes.shape[1]) % 2, codes[:1], -1).astype(np.int32)
        joint = joint_of_groups(groups)
        best = np.vstack([most_probable(group, given_codes) for group in groups])
        known = tuple(slice(None) if k < 0 else slice(k, k + 1) for k in given_codes[0].tolist())
        for cluster, record in zip(joint, best, strict=True):
            assert cluster[tuple(record)] == pytest.approx(cluster[known].max(), rel=1e-9)
            agree = given_codes[0] < 0
            assert (record[~agree] == given_codes[0][~agree]).all()


class TestSteps:
    @given(mixtures())
    @settings(max_examples=60)
    def test_expected_counts(self, drawn):
        table, codes, groups = drawn
        cells, log_likelihood = expected_cells(groups, codes, ones(table))
        found = Observed(table, table.weights).expect(groups, None, 1)
        assert found[0].log_likelihood == pytest.approx(log_likelihood, rel=1e-9)
        for group, counts, wanted in zip(groups, found, cells, strict=True):
            np.testing.assert_allclose(
                cell_counts(group.layout, counts), wanted, rtol=1e-9, atol=1e-10
            )

    @given(mixtures(max_rows=5), st.sampled_from([0.4, 0.7, 1.0]), st.booleans())
    @settings(max_examples=60)
    def test_expected_counts_of_tempered_clusters(self, drawn, power, hide):
        table, codes, groups = drawn
        weights = ones(table)
        records = Observed(table, table.weights)
        if hide:
            codes = np.where(np.arange(codes.size).reshape(codes.shape) % 3 == 0, -1, codes)
            codes = codes.astype(np.int32)
            records = Observed(None, weights, np.zeros(0, np.int64), codes)
        cells, log_likelihood = expected_cells(groups, codes, weights, power)
        found = records.expect([group.tempered(power) for group in groups], None, 1)
        assert found[0].log_likelihood == pytest.approx(log_likelihood, rel=1e-9, abs=1e-12)
        for group, counts, wanted in zip(groups, found, cells, strict=True):
            np.testing.assert_allclose(
                cell_counts(group.layout, counts), wanted, rtol=1e-8, atol=1e-10
            )

    @given(mixtures(), st.sampled_from([0.0, 0.3, 5.0]))
    @settings(max_examples=40)
    def test_the_m_step_is_fractions_and_the_prior(self, drawn, strength):
        table, codes, groups = drawn
        rng = np.random.default_rng(0)
        trees = []
        for group in groups:
            mean = random_clusters(rng, group.layout, 1).cells[:, 0]
            trees.append(Tree(group.layout, Prior(strength, mean)))
        cells, _ = expected_cells(groups, codes, ones(table))
        made = maximise(trees, Observed(table, table.weights).expect(groups, None, 1))
        assert sum(group.weights.sum() for group in made) == pytest.approx(1)
        for tree, counts, group in zip(trees, cells, made, strict=True):
            layout = tree.layout
            for c in range(len(layout.schema)):
                wanted = (
                    layout.table(counts, c) + strength * layout.table(tree.prior.mean, c)[..., None]
                )
                sums = wanted.sum(axis=1, keepdims=True)
                fractions = np.where(sums > 1e-9, wanted / np.maximum(sums, 1e-300), np.nan)
                told = layout.table(group.cells, c)
                known = ~np.isnan(fractions)
                np.testing.assert_allclose(told[known], fractions[known], rtol=1e-6, atol=2e-8)
                np.testing.assert_allclose(told.sum(axis=1), 1, rtol=1e-9)

    @given(mixtures(max_rows=20), st.sampled_from([0.1, 1.0]), st.booleans())
    @settings(max_examples=30)
    def test_no_pass_lowers_the_objective(self, drawn, strength, weighted):
        table, _, groups = drawn
        table = table if weighted else table.with_weights(None)
        rng = np.random.default_rng(1)
        trees = [
            Tree(g.layout, Prior(strength, random_clusters(rng, g.layout, 1).cells[:, 0]))
            for g in groups
        ]
        source = Source(table, table.schema, 1)
        options = Options(12, 0.0, 3, strength, True, "state", 1)
        start = Observed(table, table.weights).expect(groups, None, 1)
        trace = np.array(run_em(source, trees, start, options).trace)
        assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()

    def test_a_weight_of_two_is_the_record_twice(self):
        rng = np.random.default_rng(2)
        codes = rng.integers(0, 3, (60, 5))
        weights = rng.integers(1, 4, 60)
        twice = Table(np.repeat(codes, weights, axis=0))
        table = Table(codes).conform(twice.schema).with_weights(weights.astype(float))
        layout = TreeLayout(Blocks.single(twice.schema), random_parents(rng, 5))
        tree = Tree(layout, Prior(0.5, random_clusters(rng, layout, 1).cells[:, 0]))
        groups = [random_clusters(rng, layout, 3)]
        options = Options(20, 0.0, 3, 0.5, True, "state", 1)
        fits = []
        for records in (table, twice):
            start = Observed(records, records.weights).expect(groups, None, 1)
            fits.append(run_em(Source(records, twice.schema, 1), [tree], start, options))
        np.testing.assert_allclose(fits[0].trace, fits[1].trace, rtol=1e-10)
        np.testing.assert_allclose(fits[0].groups[0].cells, fits[1].groups[0].cells, rtol=1e-7)

    def test_starts_are_soft(self):
        rng = np.random.default_rng(3)
        table = Table(rng.integers(0, 2, (50, 6)))
        layout = TreeLayout(Blocks.single(table.schema), random_parents(rng, 6))
        start = soft_start(layout, table, 4, rng)
        assert (start.totals > 0).all()
        assert start.totals.sum() == pytest.approx(50)
        whole = count_ids(layout, layout.records(table))
        np.testing.assert_allclose(start.stored.sum(axis=1), whole.stored[:, 0])

    @pytest.mark.parametrize("weighted", [False, True])
    def test_starts_are_those_of_distances(self, weighted):
        """Parts of records are found from all distances to the seeds, one by one."""
        rng = np.random.default_rng(7)
        codes = rng.integers(0, 3, (40, 7)) * (rng.random((40, 7)) < 0.6)
        weights = rng.integers(1, 4, 40).astype(float) if weighted else None
        table = Table(codes).with_weights(weights)
        layout = TreeLayout(Blocks.single(table.schema), random_parents(rng, 7))
        start = soft_start(layout, table, 5, np.random.default_rng(8))
        chance = None if weights is None else weights / weights.sum()
        seeds = np.random.default_rng(8).choice(40, 5, replace=False, p=chance)
        apart = (codes[:, None] != codes[seeds]).sum(axis=2)
        spread = max(apart[seeds][~np.eye(5, dtype=bool)].std(), 1.0)
        parts = np.exp(-apart / spread)
        parts /= parts.sum(axis=1, keepdims=True)
        parts *= 1.0 if weights is None else weights[:, None]
        np.testing.assert_allclose(start.totals, parts.sum(axis=0), rtol=1e-10)
        records = layout.records(table)
        rows = np.repeat(np.arange(40), np.diff(records.indptr))
        stored = np.zeros((layout.n_ids, 5))
        np.add.at(stored, records.values.astype(int), parts[rows])
        np.testing.assert_allclose(start.stored, stored, rtol=1e-10, atol=1e-12)

    def test_starts_of_seeds_that_are_far(self):
        """Lengths of seeds differ by thousands: their weights leave the range of doubles."""
        codes = np.zeros((30, 5000), np.int8)
        codes[15:] = 1
        codes[np.arange(30), np.arange(30)] ^= 1
        table = Table(codes)
        layout = TreeLayout(Blocks.single(table.schema), np.full(5000, -1))
        start = soft_start(layout, table, 30, np.random.default_rng(0))
        assert np.isfinite(start.stored).all()
        assert start.totals.sum() == pytest.approx(30)

    def test_em_ends_where_held_out_records_are_worse_beyond_doubt(self):
        rng = np.random.default_rng(9)
        table = Table(rng.integers(0, 2, (60, 12)))
        layout = TreeLayout(Blocks.single(table.schema), random_parents(rng, 12))
        tree = Tree(layout, Prior(0.01, random_clusters(rng, layout, 1).cells[:, 0]))
        held_out = Table(rng.integers(0, 2, (3000, 12))).conform(table.schema)
        start = soft_start(layout, table, 12, rng)
        options = Options(200, 0.0, 50, 0.01, True, "state", 1)
        fit = run_em(
            Source(table, table.schema, 1), [tree], [start], options, Observed(held_out, None)
        )
        assert fit.converged
        assert len(fit.trace) < 50  # of which none was waited for


class TestChoices:
    """Numbers of clusters and strengths beside a rival's, of stand-ins for fits."""

    @staticmethod
    def learner(peak):
        made = []

        def learn(n, strength):
            made.append((n, strength))
            loss = abs(np.log2(n / peak[0])) + abs(np.log(strength / peak[1]))
            records = np.random.default_rng(0).standard_normal(500) - loss
            return Fit([], [], [], held_out=float(records.mean()), records=records)

        return learn, made

    def test_it_climbs_from_where_it_is(self):
        learn, made = self.learner((32, 0.3))
        rival = learn(1024, 100.0)
        found = choose_near(learn, [2**k for k in range(11)], None, (64, 1.0), rival)
        assert found[0][:2] == (32, 0.3)
        assert len(made) <= 12

    def test_it_gives_up_on_what_is_hopeless(self):
        learn, made = self.learner((2, 0.03))
        rival = learn(2, 0.03)
        made.clear()
        choose_near(learn, [2**k for k in range(11)], None, (256, 30.0), rival)
        assert len(made) <= 4  # one cluster, the start, and a step uphill

    def test_nothing_but_what_is_asked_for(self):
        learn, made = self.learner((8, 1.0))
        found = choose_near(learn, [16], 1.0, (16, 1.0), learn(16, 1.0))
        assert [key[:2] for key in found] == [(16, 1.0)]
        assert set(made) == {(16, 1.0)}

    def test_doubling_ends_beyond_doubt(self):
        learn, made = self.learner((64, 1.0))
        choose_clusters(learn, [2**k for k in range(11)], 1.0)
        assert max(n for n, _ in made) == 128


class TestLayout:
    def test_columns_of_many_children(self):
        """Factors of a value are spread over several ids; the product is that of the tables."""
        rng = np.random.default_rng(4)
        n = 40
        table = Table(rng.integers(0, 2, (30, n)))
        parents = np.zeros(n, np.int64)
        parents[0] = -1
        layout = TreeLayout(Blocks.single(table.schema), parents)
        assert layout.extras[0] > 0
        group = random_clusters(rng, layout, 3)
        codes = np.column_stack([table.codes(c) for c in range(n)])
        chance = np.tile(group.weights, (30, 1))
        for c in range(n):
            rows = np.zeros(30, int) if c == 0 else codes[:, 0]
            chance *= layout.table(group.cells, c)[rows, codes[:, c]]
        scores = Observed(table, None).log_scores([group], None, 1)
        np.testing.assert_allclose(scores, np.log(chance.sum(axis=1)), rtol=1e-10)

    def test_probabilities_of_next_to_nothing(self):
        """A thousand columns at the bound of what is probable stay in the kernel's range."""
        rng = np.random.default_rng(5)
        n = 1000
        table = Table(np.vstack([np.zeros((3, n), int), np.ones((2, n), int)]))
        parents = np.zeros(n, np.int64)
        parents[0] = -1
        layout = TreeLayout(Blocks.single(table.schema), parents)
        cells = np.where(rng.random((int(layout.first_cell[-1]), 2)) < 0.5, 1e-9, 1.0)
        cells = np.maximum(cells / layout.row_sums(cells), 1e-9)
        cells /= layout.row_sums(cells)
        group = TreeClusters(layout, np.array([0.3, 0.7]), cells)
        scores = Observed(table, None).log_scores([group], None, 1)
        codes = np.column_stack([table.codes(c) for c in range(n)]).astype(np.int32)
        exact = np.log(group.weights) + np.array(
            [
                sum(
                    np.log(layout.table(cells, c)[0 if c == 0 else row[0], row[c]])
                    for c in range(n)
                )
                for row in codes
            ]
        )
        np.testing.assert_allclose(scores, np.logaddexp.reduce(exact, axis=1), rtol=1e-9)

    def test_circles_are_refused(self):
        table = Table(np.array([[0, 1], [1, 0]]))
        with pytest.raises(InputError, match="circle"):
            TreeLayout(Blocks.single(table.schema), np.array([1, 0])).order  # noqa: B018

    @given(st.integers(0, 2**32 - 1), st.integers(1, 12))
    def test_roots_are_in_the_middle(self, seed, n):
        rng = np.random.default_rng(seed)
        parents = random_parents(rng, n)
        below = np.flatnonzero(parents >= 0)
        edges = np.column_stack([below, parents[below]])
        found = orient(n, edges)
        again = {frozenset((c, int(p))) for c, p in enumerate(found) if p >= 0}
        assert again == {frozenset(edge) for edge in edges.tolist()}
        assert (found < 0).sum() == (parents < 0).sum()

    def test_records_in_blocks(self, monkeypatch):
        """Messages of few records at a time are those of all at once."""
        rng = np.random.default_rng(6)
        table = Table(rng.integers(0, 3, (25, 4)))
        layout = TreeLayout(Blocks.single(table.schema), random_parents(rng, 4))
        group = random_clusters(rng, layout, 2)
        codes = rng.integers(-1, 3, (25, 4)).astype(np.int32)
        whole = log_joint([group], codes)
        monkeypatch.setattr("tacit.density.messages._CELLS", 200)
        assert len(list(row_blocks(group, codes))) > 1
        np.testing.assert_allclose(log_joint([group], codes), whole, rtol=1e-12)
