"""Changed files of text in all formats, and of networks."""

from __future__ import annotations

import tacit
from fuzz.mutate import change_bytes, pick

WORDS = (
    "@relation",
    "numeric",
    "date 'yyyy'",
    "?",
    "qid:",
    "#",
    "{0 1}",
    "table",
    "default",
    "2 ]",
)
OPTIONS = {
    "missing": ("state", "default"),
    "discretise": (None, "auto", 3),
    "chunk_records": (1, 2),
}


def throw(rng, files, scratch):
    """Read a changed file, mostly into a table, which is then used."""
    names = (".csv", ".tsv", ".ndjson", ".arff", ".svm", ".dat", ".test", ".bif", ".gz", ".xml")
    source = pick(rng, [f for f in files if f.suffix in names])
    path = scratch / f"x{''.join(source.suffixes)}"
    path.write_bytes(change_bytes(rng, source.read_bytes(), WORDS))
    if source.suffix == ".bif":
        net = tacit.BayesNet.read_bif(path)
        _use(net)
        net.save_bif(scratch / "y.bif")
        return
    if source.suffix == ".xml":
        net = tacit.BayesNet.read_xmlbif(path)
        _use(net)
        net.save_xmlbif(scratch / "y.xml")
        return
    columns = source.suffix not in (".svm", ".dat", ".arff")
    options = {}
    if columns:
        options = {k: pick(rng, v) for k, v in OPTIONS.items() if rng.random() < 0.3}
    way = rng.random()
    if columns and way < 0.3 and source.suffix in (".csv", ".tsv"):
        tacit.scan(path, partition_records=2).one_way()
        return
    table = tacit.read(path, **options)
    table.summary().line()
    table.save(scratch / "y.tacit")
    again = tacit.load(scratch / "y.tacit")
    if not (again.values == table.values).all():
        raise AssertionError("what was saved is not what was loaded")
    if way > 0.8 and table.n_records and len(table.schema) < 20:
        table._repr_html_()
        table.to_frame()


def _use(net):
    net.to_text()
    net.sample(3, random_state=0)
