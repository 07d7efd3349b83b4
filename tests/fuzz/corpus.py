"""Small files of every kind, from which those that are thrown are made."""

from __future__ import annotations

import gzip
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import tacit
from support.scans import some_frames
from tacit import store

EARLIER = Path(__file__).parents[1] / "files" / "0.1"
BIF = """network rain { property note "{ nested }"; }
variable rain { type discrete [ 2 ] { yes, no }; }
variable grass { type discrete [ 3 ] { wet, damp, dry }; property p = 1; }
probability ( rain ) { table 0.2, 0.8; }
probability ( grass | rain ) { (yes) 0.8, 0.1, 0.1; default 0.1, 0.2, 0.7; }
"""
TEXTS = {
    "a.csv": 'sky,rain,"size"\nblue,no,1.5\ngrey,"mu""ch",2\n,"a\nb",-3e4\nblue,no,\n',
    "a.tsv": "sky\train\nblue\tno\ngrey\tmuch\n",
    "a.ndjson": '{"sky": "blue", "n": 1}\n{"sky": null, "n": 2.5}\n{"sky": "\\u00e9", "n": 3}\n',
    "a.arff": "@relation r\n@attribute sky {blue, 'a grey'}\n@attribute n numeric\n"
    "@data\nblue, 1\n'a grey', ?\n?, 2.5\n",
    "s.arff": "@relation r\n@attribute a {x, y}\n@attribute b numeric\n@data\n"
    "{0 y, 1 2}\n{1 1}\n{}\n",
    "a.svm": "1 1:0.5 3:2 # note\n-1 2:1\n1 qid:3 1:1\n0\n",
    "a.dat": "milk bread\ntea\n\nmilk tea bread\n",
    "a.test": "39, State-gov, ?\n50, Private, 13\n",
}


def frames():
    """Return frames to write to columnar files."""
    first = some_frames(sizes=[60])[0]
    rng = np.random.default_rng(0)
    small = pl.DataFrame({"a": rng.integers(0, 3, 40), "b": ["x", "y"] * 20, "c": rng.random(40)})
    return {"wide": first, "small": small.with_columns(pl.lit(None).alias("none"))}


def write_columnar(folder):
    """Write Parquet and Arrow files by two writers, in several ways."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, frame in frames().items():
        for packing in ("uncompressed", "snappy", "zstd", "gzip", "lz4"):
            path = folder / f"{name}-{packing}.parquet"
            frame.write_parquet(path, compression=packing, row_group_size=25)
        for packing in ("uncompressed", "lz4", "zstd"):
            frame.write_ipc(folder / f"{name}-{packing}.arrow", compression=packing)
        frame.write_ipc_stream(folder / f"{name}-stream.arrow")
        table = frame.with_columns(pl.selectors.categorical().cast(pl.String)).to_arrow()
        pq.write_table(table, folder / f"{name}-pa.parquet", row_group_size=30)
        pq.write_table(
            table, folder / f"{name}-v2.parquet", data_page_version="2.0", compression="zstd",
            data_page_size=64,
        )  # fmt: skip
        encodings = {
            f.name: "DELTA_BINARY_PACKED" if pa.types.is_integer(f.type) else
            "DELTA_LENGTH_BYTE_ARRAY" if f.name in ("word", "b") else
            "DELTA_BYTE_ARRAY" if pa.types.is_large_string(f.type) else
            "BYTE_STREAM_SPLIT" if pa.types.is_floating(f.type) else "PLAIN"
            for f in table.schema
        }  # fmt: skip
        encodings = {
            k: v for k, v in encodings.items() if not pa.types.is_null(table.schema.field(k).type)
        }
        pq.write_table(
            table, folder / f"{name}-delta.parquet", use_dictionary=False, compression="none",
            column_encoding=encodings,
        )  # fmt: skip


def models():
    """Return fitted models and tables of every kind that is saved."""
    from tacit.datasets import load_visits

    rng = np.random.default_rng(0)
    visits = load_visits().take(np.arange(120))
    baskets = [[f"i{x}" for x in set(rng.integers(0, 8, 4).tolist())] for _ in range(60)]
    X, y = rng.random((60, 3)).round(2), rng.integers(0, 3, 60)
    D = rng.integers(0, 3, (60, 4))
    tree = tacit.ADTree(visits.take(np.arange(40)), leaf_size=4)
    tree.build()
    made = {
        "table": visits.take(np.arange(30)),
        "table-cut": tacit.Table(some_frames(sizes=[20])[0], discretise="auto", weights="weight"),
        "adtree": tree,
    }
    unsupervised = {
        "bayes_net": tacit.BayesNet(), "dependency_tree": tacit.DependencyTree(),
        "frequent_itemsets": tacit.FrequentItemsets(min_support=5), "kmeans": tacit.KMeans(3),
        "dependency_network": tacit.DependencyNetwork(),
        "naive_bayes_mixture": tacit.NaiveBayesMixture(3), "tree_mixture": tacit.TreeMixture(2),
    }  # fmt: skip
    for name, model in unsupervised.items():
        made[name] = model.fit(baskets if name == "frequent_itemsets" else D)
    made["recommender"] = tacit.Recommender().fit(baskets)
    supervised = (
        tacit.BoostedRulesClassifier(n_rules=5), tacit.CoveringRulesClassifier(),
        tacit.DecisionTreeClassifier(), tacit.DecisionGraphClassifier(),
        tacit.similarity.NormalizedCutClassifier(), tacit.similarity.SparseKNeighborsClassifier(),
        tacit.similarity.SparseSVC(), tacit.BoostedRulesRegressor(n_rules=5),
        tacit.DecisionTreeRegressor(),
    )  # fmt: skip
    for model in supervised:
        made[type(model).__name__] = model.fit(X, y)
    return made


def write(folder):
    """Write all files; what a model is asked lies beside it."""
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (folder / "a.bif").write_text(BIF)
    tacit.BayesNet.read_bif(folder / "a.bif").save_xmlbif(folder / "a.xml")
    (folder / "gz.csv.gz").write_bytes(gzip.compress(TEXTS["a.csv"].encode(), mtime=0))
    (folder / "w.csv").write_text(some_frames(sizes=[20])[0].write_csv())
    write_columnar(folder)
    for name, model in models().items():
        model.save(folder / f"{name}.tacit")
    for path in EARLIER.glob("*.tacit"):
        kind, arrays = store.read_arrays(path)
        if sum(array.nbytes for array in arrays.values()) < 200_000:
            store.write_arrays(folder / f"earlier-{path.name}", kind, arrays)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(Path(sys.argv[1]))
