"""The manifest of a backup, ``backup.json``: which files belong to it, their hashes, and the head that they prove.

It is JSON; the member ``sha256`` is the hash of all others, so that a manifest that was changed by accident is found.
Whoever means to deceive can compute that too: only a head kept elsewhere finds it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import orjson

from ledger.backups import files
from ledger.errors import StorageError
from ledger.facts.words import TreeHead

NAME = "backup.json"
FORMAT = "rating-ledger backup/1"
ROLES = ("journal", "people", "views")  # the views may be missing
MAX_BYTES = 1 << 16  # a manifest has about a thousand
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@attrs.frozen
class CopiedFile:
    """One file of a backup.

    Attributes:
        name: its name in the folder.
        bytes: its size.
        sha256: of its bytes, in hexadecimal.
        layout: the version of its tables.
    """

    name: str
    bytes: int
    sha256: str
    layout: int


@attrs.frozen
class Manifest:
    """What a backup says of itself.

    Attributes:
        made_at: when it was made, an instant in UTC.
        program: the version of the program that made it.
        head: size and root of its journal.
        files: its files by role: ``journal``, ``people`` and, where there were any, ``views``.
    """

    made_at: str
    program: str
    head: TreeHead
    files: Mapping[str, CopiedFile]


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest into the folder of a backup."""
    members: dict[str, Any] = {
        "format": FORMAT,
        "made_at": manifest.made_at,
        "program": manifest.program,
        "head": str(manifest.head),
        "files": {role: attrs.asdict(file) for role, file in manifest.files.items()},
    }
    members["sha256"] = _seal(members)
    with files.new_file(folder / NAME, files.USUAL) as file, files.errors_named(folder / NAME):
        file.write(orjson.dumps(members, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def read(folder: Path) -> Manifest:
    """The manifest of the backup in *folder*.

    Raises:
        StorageError: there is none, or it is not what ``write`` wrote.
    """
    path = folder / NAME
    if not path.is_file():
        raise StorageError(str(folder), f"is no backup: it has no {NAME}; give a folder that 'backup' made")
    with files.errors_named(path), path.open("rb") as file:
        text = file.read(MAX_BYTES + 1)
    try:
        members = orjson.loads(text)
        if members["format"] != FORMAT:
            raise StorageError(str(path), f"is of format {members['format']!r:.60}, this program reads {FORMAT!r}")
        if members.pop("sha256") != _seal(members):
            raise StorageError(str(path), "was changed since the backup was made; use another backup")
        return _manifest(members)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StorageError(str(path), "is damaged: not the manifest of a backup; use another backup") from error


def _seal(members: Mapping[str, Any]) -> str:
    return sha256(orjson.dumps(members, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _manifest(members: Mapping[str, Any]) -> Manifest:
    """The typed form; any error means that it was not written by ``write``."""
    found = {role: CopiedFile(**members["files"][role]) for role in ROLES if role in members["files"]}
    for file in found.values():
        if not _is_plain_name(file.name) or not _SHA256.fullmatch(file.sha256):
            raise ValueError(file)
        if type(file.bytes) is not int or type(file.layout) is not int:
            raise TypeError(file)
    if not {"journal", "people"} <= set(found) or len({file.name for file in found.values()}) < len(found):
        raise ValueError(found)
    texts = [members["made_at"], members["program"]]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(texts)
    return Manifest(members["made_at"], members["program"], TreeHead.parse(members["head"]), found)


def _is_plain_name(name: str) -> bool:
    """True for the name of a file in the same folder, never a way to another one."""
    return Path(name).name == name and name not in {"", "..", NAME} and "\0" not in name
