"""Joint distributions of discrete columns: mixtures of dependency trees."""

from tacit.density.tree_mixture import TreeMixture

__all__ = ["TreeMixture"]
