"""How well mixtures explain records they have not seen."""

from __future__ import annotations

import tacit
from benchmarks.report import SHARED, Section

CHOICES = (1, 5, 10, 20, 40, 80, 160)
# Mean test log-likelihood of LearnSPN (Gens & Domingos, ICML 2013), a deep model that mixes and
# factorises in turn: what a plain mixture can be held against.
PUBLISHED = {
    "nltcs": -6.110,
    "baudio": -40.503,
    "jester": -53.480,
    "bnetflix": -57.328,
    "accidents": -30.038,
    "pumsb_star": -24.781,
}


def debd(name: str, part: str) -> tacit.Table:
    path = SHARED / "debd" / name / f"{name}.{part}.data.xz"
    return tacit.read(path, format="csv", header=False)


def fit(table: tacit.Table, n_clusters: int | str, prior: float = 1.0) -> tacit.NaiveBayesMixture:
    return tacit.NaiveBayesMixture(
        n_clusters, prior=prior, max_clusters=160, random_state=0, unseen="default", n_jobs=2
    ).fit(table)


def held_out(section: Section) -> None:
    section.part("Records not seen before")
    if not SHARED.exists():
        section.say("Left out: the real data are not at hand.", "")
        return
    section.say(
        "Mean log-likelihood of test records. The number of clusters is chosen by the validation "
        f"set among {', '.join(map(str, CHOICES))}, or without it by the approximate marginal "
        'likelihood (`n_clusters="auto"`). LearnSPN is a deeper model; its figures are those of '
        "Gens and Domingos (2013). One cluster means independent columns. msweb is the UCI file "
        "with its own test set.",
        "",
    )
    rows = []
    for name in sorted(path.name for path in (SHARED / "debd").iterdir() if path.is_dir()):
        train, valid, test = (debd(name, part) for part in ("train", "valid", "test"))
        models = {k: fit(train, k) for k in CHOICES if k <= train.n_records // 10}
        chosen = max(models, key=lambda k: models[k].score(valid))
        rows.append(row(name, models[1], models[chosen], fit(train, "auto"), test))
    train, test = (
        tacit.read_msweb(SHARED / "msweb" / f"anonymous-msweb.{part}.gz")
        for part in ("data", "test")
    )
    rows.append(row("msweb", fit(train, 1), None, fit(train, "auto"), test))
    section.table(
        ("data", "one cluster", "chosen by validation", "auto", "LearnSPN, published"), rows
    )


def row(
    name: str,
    one: tacit.NaiveBayesMixture,
    chosen: tacit.NaiveBayesMixture | None,
    auto: tacit.NaiveBayesMixture,
    test: tacit.Table,
) -> tuple[str, ...]:
    def say(model: tacit.NaiveBayesMixture | None) -> str:
        return "–" if model is None else f"{model.score(test):.3f} ({model.n_clusters_} clusters)"

    return (
        name,
        f"{one.score(test):.3f}",
        say(chosen),
        say(auto),
        f"{PUBLISHED[name]:.3f}" if name in PUBLISHED else "–",
    )
