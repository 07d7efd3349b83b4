"""How real data sets are read."""

import tacit

NAMES = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "class",
]  # fmt: skip
ADULT = {"separator": ", ", "header": False, "names": NAMES, "null_values": "?"}


def msweb(folder):
    """Return the visits to a web site, to learn from and to test."""
    parts = ("data", "test")
    return [tacit.read_msweb(folder / "msweb" / f"anonymous-msweb.{part}.gz") for part in parts]
