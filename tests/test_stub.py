"""The committed stub says what the compiled module offers."""

from __future__ import annotations

import ast

from support import make_stub
from tacit import _core


def test_stub_is_what_the_binary_generates():
    assert make_stub.STUB.read_text(encoding="utf-8") == make_stub.generate()


def test_stub_declares_every_kernel_and_no_other():
    tree = ast.parse(make_stub.STUB.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    declared = {node.name for node in tree.body if isinstance(node, kinds)}
    assert declared == {name for name in dir(_core) if not name.startswith("_")}


def test_stub_declares_every_method_and_no_other():
    tree = ast.parse(make_stub.STUB.read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for name, node in classes.items():
        if issubclass(getattr(_core, name), Exception):
            continue
        declared = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        offered = {part for part in vars(getattr(_core, name)) if not part.startswith("_")}
        assert declared - {"__init__"} == offered
