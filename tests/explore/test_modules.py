"""The modules of the page stand alone in one file."""

import re
from pathlib import Path

from tacit.datasets import load_visits
from tacit.explore import Explorer
from tacit.explore.offline import MODULES, WORKER, bundle

STATIC = Path(__file__).parents[2] / "src/tacit/explore/static"


def test_modules_come_after_those_they_import():
    assert {*MODULES, *WORKER, "app"} == {path.stem for path in STATIC.glob("*.js")}
    both = [(MODULES, k, name) for k, name in enumerate(MODULES)]
    for modules, k, name in [*both, *((WORKER, k, name) for k, name in enumerate(WORKER))]:
        text = (STATIC / f"{name}.js").read_text()
        imported = set(re.findall(r'^import .* from "\./(\w+)\.js";$', text, re.MULTILINE))
        assert len(imported) == len(re.findall(r"^import\b", text, re.MULTILINE))
        # Functions may wait for those of later modules; classes and constants may not.
        assert imported <= set(modules), (name, imported)
        assert "export default" not in text
        assert imported <= set(modules[:k]), (name, imported)


def test_no_name_is_taken_twice():
    taken = {}
    for name in MODULES:
        text = (STATIC / f"{name}.js").read_text()
        found = re.findall(
            r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", text, re.M
        )
        for word in set(found):
            assert taken.setdefault(word, name) == name, word


def test_nothing_is_fetched_or_made_of_texts():
    text = bundle()
    assert "import " not in re.sub(r"/\*\*.*?\*/|//.*", "", text, flags=re.DOTALL).split("\n")[0]
    for path in [*STATIC.glob("*.js"), *STATIC.glob("*.css"), *STATIC.glob("*.html")]:
        source = path.read_text()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", source
        )
        assert not re.search(r"new Function|https?://(?!www\.w3\.org/2000/svg)", source), path


def test_the_file_holds_no_open_ends(tmp_path):
    path = tmp_path / "visits.html"
    Explorer(load_visits(), title="</script><script>alert(1)</script>").save(path)
    page = path.read_text()
    assert page.count("</script>") == 4
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "default-src 'none'" in page
    assert 'src="' not in page
