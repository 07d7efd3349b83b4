"""How many bits it takes to say which records are of a class, by rules and their exceptions.

A rule list that describes its records in fewer bits is likely to be right about others, too: a
condition costs bits, and so does every record that the rules get wrong (Cohen's RIPPER, after
Quinlan).
"""

from __future__ import annotations

from math import inf, log2

__all__ = ["exception_bits", "rule_bits", "subset_bits"]

_REDUNDANCY = 0.5  # the same conditions in another order are the same rule


def subset_bits(n: float, k: float, fraction: float) -> float:
    """Return the bits that name k of n things, if a fraction of them is expected.

    >>> subset_bits(8, 4, 0.5)
    8.0
    >>> subset_bits(8, 0, 0.0)
    0.0
    """
    bits = 0.0
    for part, expected in ((k, fraction), (n - k, 1.0 - fraction)):
        if part > 0:
            bits += -part * log2(expected) if expected > 0 else inf
    return bits


def rule_bits(n_conditions: int, n_possible: int) -> float:
    """Return the bits of a rule: how many conditions it has, and which of those possible.

    >>> rule_bits(0, 16), rule_bits(2, 16) < rule_bits(3, 16)
    (0.0, True)
    """
    if n_conditions == 0:
        return 0.0
    length = log2(n_conditions)
    if length > 1:
        length += 2 * log2(length)
    n_possible = max(n_possible, n_conditions)
    chosen = subset_bits(n_possible, n_conditions, n_conditions / n_possible)
    return _REDUNDANCY * (length + chosen)


def exception_bits(
    covered: float, others: float, wrong: float, missed: float, hit_fraction: float
) -> float:
    """Return the bits that name the records that rules for a class get wrong.

    Parameters
    ----------
    covered, others : float
        How many records rules cover, and how many they do not.
    wrong, missed : float
        How many of those covered are not of the class, and how many of the others are.
    hit_fraction : float
        The fraction of all records that are of the class.

    Examples
    --------
    >>> exception_bits(4, 12, 0, 0, 0.25) == log2(17)
    True
    >>> exception_bits(4, 12, 0, 1, 0.25) < exception_bits(4, 12, 1, 1, 0.25)
    True
    """
    errors = wrong + missed
    # Of the larger part, how many errors it has is told by how many there are in all.
    if covered > others:
        expected = min(hit_fraction * errors, covered) / covered
        bits = subset_bits(covered, wrong, expected)
        rest = subset_bits(others, missed, missed / others) if others > 0 else 0.0
    else:
        expected = min((1.0 - hit_fraction) * errors, others) / others if others > 0 else 0.0
        bits = subset_bits(covered, wrong, wrong / covered) if covered > 0 else 0.0
        rest = subset_bits(others, missed, expected)
    return log2(covered + others + 1) + bits + rest
