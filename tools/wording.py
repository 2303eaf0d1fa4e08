"""Words with numbers, as every command says them. Nothing is printed here."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 game``, ``2,000 games``.

    Args:
        count: how many.
        noun: the word for one of them.
        plural: the word for several, where it is not *noun* with an s.
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def entries(count: int) -> str:
    """Return a number of entries: ``1 entry``, ``917 entries``."""
    return counted(count, "entry", "entries")
