"""What the fixture ``holds`` gives: so many attacks of a family, of which nothing false may come."""

from __future__ import annotations

from collections.abc import Callable

Holds = Callable[[str, int], None]
