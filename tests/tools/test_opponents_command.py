"""Opponent statistics on the command line: what a table for people says of means."""

from pathlib import Path

from tests.kit.commands import Run


def test_a_mean_of_ratings_is_shown_one_half_up(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "club.db"
    run("init", path, "--pool", "standard", "--scheme", "elo")
    for name in ("ann", "bob"):
        run("player", "add", path, f"name:{name}", name, "--rating", "1500.5", "--list", "January")
    words = ("--white", "ann", "--black", "bob", "--result", "1/2-1/2", "--ended", "2024-01-01", "--half-moves", "40")
    assert run("record", path, *words).code == 0
    head, _, row = run("opponents", path, "ann", "-t").out.splitlines()
    columns = [(part.strip(), column.strip()) for part, column in zip(*map(str.split, (head, row)), strict=True)]
    shown = dict(columns)
    assert (shown["mean"], shown["opponent_mean"]) == ("1501", "1501")
    assert (shown["sd"], shown["percent"]) == ("0.0", "50.0")
