"""The build backend that ``pyproject.toml`` names: setuptools', whose development install type checkers can follow too.

``pip install -e .`` makes a finder that only a running Python understands, for ``ledger.tools`` is next to
``ledger``. Type checkers read folders from ``.pth`` files: one more of them names the checkout, where ``ledger`` with
its ``py.typed`` is. Wheels and source distributions are as setuptools makes them. Nothing here is imported by the
library or its commands.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setuptools import build_meta

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

CHECKOUT = Path(__file__).resolve().parents[2]
FOR_TYPE_CHECKERS = "rating_ledger_checkout.pth"

build_sdist = build_meta.build_sdist
build_wheel = build_meta.build_wheel
get_requires_for_build_editable = build_meta.get_requires_for_build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist
get_requires_for_build_wheel = build_meta.get_requires_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable
prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel


def build_editable(
    wheel_directory: str, config_settings: Mapping[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Return the wheel of a development install, with the file that leads type checkers to the checkout (PEP 660)."""
    name: str = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    _add(Path(wheel_directory) / name, FOR_TYPE_CHECKERS, f"{CHECKOUT}\n".encode())
    return name


def _add(wheel: Path, name: str, content: bytes) -> None:
    """Write a wheel again with one more file, which its list of files has, too."""
    with zipfile.ZipFile(wheel) as made:
        files = {item: made.read(item) for item in made.infolist()}
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as changed:
        changed.writestr(name, content)
        for item, stored in files.items():
            is_list = item.filename.endswith(".dist-info/RECORD")
            changed.writestr(item, stored + f"{name},sha256={digest},{len(content)}\n".encode() if is_list else stored)
