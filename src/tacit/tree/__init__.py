"""Decision trees, decision graphs and dependency networks."""

from __future__ import annotations

__all__: list[str] = []
