"""Decision graphs: trees whose leaves may merge."""

from __future__ import annotations

from tacit.tree.base import TreeClassifier

__all__ = ["DecisionGraphClassifier"]


class DecisionGraphClassifier(TreeClassifier):
    """A decision graph that tells classes apart: a tree whose leaves may merge.

    Leaves that say the same are worth more as one: it has fewer parameters and more records. A tree
    is grown first; then, as long as anything raises the score, the best of all mergers of two
    leaves and all splits of one is made. So its score is never lower than that of the tree it
    begins as. What takes a large tree, such as the parity of some columns, may take a small graph.

    To be fitted it needs all records on one machine; a PartitionedTable is refused.

    Parameters
    ----------
    criterion : {"bayes_factor", "bic"}
        What splits and mergers have to raise.
    splits : {"binary", "complete", "both"}
        As for :class:`DecisionTreeClassifier`; with "both" the search has all the operators there
        are: either split of a leaf, and the merger of two.
    prior, prior_weight, kappa, max_depth, min_samples_leaf, max_leaf_nodes, min_gain, class_weight
        As for :class:`DecisionTreeClassifier`.
    discretise, kinds, unseen, absent, n_jobs
        As for :class:`DecisionTreeClassifier`.

    Attributes
    ----------
    classes_, n_classes_, n_leaves_, depth_, score_, log_likelihood_, feature_importances_
        As for :class:`DecisionTreeClassifier`.
    nodes_ : Nodes
        The graph as flat arrays; a node may have several parents.
    schema_, n_features_in_, feature_names_in_
        As for :class:`DecisionTreeClassifier`.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({
    ...     "wind": [0, 0, 0, 1, 1, 1] * 50,
    ...     "sky": [0, 1, 1, 0, 1, 1] * 50,
    ...     "rain": [0, 1, 1, 1, 0, 0] * 50,
    ... })
    >>> graph = tacit.DecisionGraphClassifier().fit(table, "rain")
    >>> tree = tacit.DecisionTreeClassifier().fit(table, "rain")
    >>> graph.n_leaves_, tree.n_leaves_, graph.score_ > tree.score_
    (2, 4, True)
    """

    _kind = "decision_graph_classifier"
    _criteria = ("bayes_factor", "bic")
    _merge = True
