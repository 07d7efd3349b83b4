"""Tables of the sizes in the sparse-data paper (Chickering & Heckerman, table 1).

The paper's data are viewers and visitors of the 1990s; these are drawn from a mixture and are
like them in what the running time depends on: records, columns and stored values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.datasets.mixture import make_mixture

if TYPE_CHECKING:
    import numpy as np

    from tacit.table import Table

__all__ = ["MSNBC", "MSWEB", "TELEVISION", "make_msnbc", "make_msweb", "make_television"]

# Records, columns and stored values: the paper's m, n and l.
TELEVISION = (3_275, 203, 27_957)
MSWEB = (10_000, 282, 57_086)
MSNBC = (1_043_878, 2_922, 12_348_863)


def make_television(random_state: int | np.random.Generator = 0) -> Table:
    """Draw a table of the size of the paper's Television data: viewers and the shows they watched.

    3,275 records × 203 columns ("show 0", "show 1", …) with 27,957 stored values. The data are
    synthetic, from :func:`make_mixture` with 20 clusters and the `random_state` given.

    >>> make_television()
    Table of 3,275 records × 203 columns, 27,957 stored values (m·n/l = 23.8)
    """
    return make_mixture(*TELEVISION, noun="show", random_state=random_state)


def make_msweb(random_state: int | np.random.Generator = 0) -> Table:
    """Draw a table of the size of the paper's MS Web data: visitors and the areas they went to.

    10,000 records × 282 columns ("area 0", "area 1", …) with 57,086 stored values, drawn as by
    :func:`make_television`; :func:`tacit.read_msweb` reads the file of the UCI repository.

    >>> make_msweb()
    Table of 10,000 records × 282 columns, 57,086 stored values (m·n/l = 49.4)
    """
    return make_mixture(*MSWEB, noun="area", random_state=random_state)


def make_msnbc(random_state: int | np.random.Generator = 0) -> Table:
    """Draw a table of the size of the paper's MSNBC data: visitors and the stories they read.

    1,043,878 records × 2,922 columns ("story 0", "story 1", …) with 12,348,863 stored values, drawn
    as by :func:`make_television`; it takes some seconds.

    >>> make_msnbc()  # doctest: +SKIP
    Table of 1,043,878 records × 2,922 columns, 12,348,863 stored values (m·n/l = 247)
    """
    return make_mixture(*MSNBC, noun="story", random_state=random_state)
