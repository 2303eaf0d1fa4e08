"""SVG as PNG: drawn by resvg, without a browser; the extra ``pictures`` brings it and, with matplotlib, a font."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ledger.runtime.lazy import resvg

FONT = "DejaVu Sans"


def is_available() -> bool:
    """Return whether resvg is installed."""
    return importlib.util.find_spec("resvg_py") is not None


def as_png(svg: str, *, zoom: float = 2.0) -> bytes:
    """Return the picture of an SVG.

    Args:
        svg: the text of the file; its theme must be light or dark, because there is no reader's system to ask.
        zoom: pixels of the picture for one of the SVG.

    Raises:
        ImportError: resvg is not installed.
    """
    folders = font_folders()
    return bytes(
        resvg.svg_to_bytes(svg_string=svg, zoom=zoom, font_dirs=folders, font_family=FONT, sans_serif_family=FONT)
    )


def font_folders() -> list[str]:
    """Return the folders in which matplotlib keeps DejaVu Sans, which machines without a font lack; import nothing."""
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or spec.origin is None:
        return []
    return [str(Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf")]
