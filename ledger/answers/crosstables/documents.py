"""A cross-table as a document: text, an HTML page, an SVG or PNG picture, or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import attrs

from ledger.answers.crosstables import formats
from ledger.answers.crosstables.crosstable_data import Crosstable
from ledger.answers.documents import format_by_suffix
from ledger.answers.graphs import json_form, png
from ledger.runtime.ledger_files import save_document

ENDINGS: Mapping[str, str] = {f".{kind}": kind for kind in ("txt", "html", "svg", "png", "json")}


@attrs.frozen(kw_only=True)
class CrosstableDocument(Crosstable):
    """A cross-table that can be saved as a file; ``str`` gives the table as text."""

    @classmethod
    def of(cls, page: Crosstable) -> Self:
        """Return the document of a cross-table."""
        return cls(**{field.name: getattr(page, field.name) for field in attrs.fields(Crosstable)})

    def __str__(self) -> str:
        return formats.as_text(self)

    def save(self, path: str | Path) -> None:
        """Write the table to a file, in the format that the ending of its name selects: txt, html, svg, png or json.

        Raises:
            MalformedError: the ending selects no format, or PNG without an installed program that draws it.
            StorageError: the file belongs to a ledger.
            OSError: the file cannot be written.
        """
        save_document(Path(path), render(self, format_by_suffix(path, ENDINGS)))


def render(page: Crosstable, kind: str, *, dark: bool | None = None) -> bytes:
    """Return a cross-table in a format: txt, html, svg, png or json.

    A picture is for dark pages if *dark*; None: an SVG has the theme of its reader's system.
    """
    match kind:
        case "html":
            return formats.as_html(page).encode()
        case "svg":
            return formats.as_svg(page, dark=dark).encode()
        case "png":
            return png.as_png(formats.as_svg(page, dark=dark or False))
        case "json":
            return json_form.dump_json(attrs.asdict(page), indent=True)
        case _:
            return f"{formats.as_text(page)}\n".encode()
