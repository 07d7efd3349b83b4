"""How the documentation is built: ``make docs``. Nothing is fetched."""

from __future__ import annotations

from typing import Any

import tacit

project = "tacit"
author = "the tacit developers"
project_copyright = "the tacit developers"
version = release = tacit.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "examples"]
templates_path = ["_templates"]

# The reference: one page a name, with its methods on it.
autosummary_generate = True
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections say it in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def setup(app: Any) -> None:
    """Leave out what scikit-learn adds to every estimator: its words refer to its own pages."""

    def skip(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
        made = name == "get_metadata_routing" or (name[:4] == "set_" and name[-8:] == "_request")
        return True if made else None

    app.connect("autodoc-skip-member", skip)


# Pages in Markdown. Blocks with >>> are run by pytest.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "capture_repr": ("_repr_html_", "__repr__"),
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "tacit"
html_static_path = ["_static"]
html_css_files = ["tacit.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "tacit"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
