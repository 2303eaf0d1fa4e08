"""The conversion of SVG to PNG by resvg, which the extra ``pictures`` installs and, with matplotlib, a font."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ledger.runtime.lazy import resvg

FONT = "DejaVu Sans"


def is_available() -> bool:
    """Return whether resvg, which draws PNG, is installed."""
    return importlib.util.find_spec("resvg_py") is not None


def as_png(svg: str, *, zoom: float = 2.0) -> bytes:
    """Convert an SVG to a PNG picture with *zoom* pixels for one of the SVG; its theme must be light or dark.

    Raises:
        ImportError: resvg is not installed.
    """
    # Machines without a font lack DejaVu Sans, which matplotlib has; to find it imports nothing.
    spec = importlib.util.find_spec("matplotlib")
    folders = [str(Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf")] if spec and spec.origin else []
    return bytes(
        resvg.svg_to_bytes(svg_string=svg, zoom=zoom, font_dirs=folders, font_family=FONT, sans_serif_family=FONT)
    )
