"""What ``ratings`` advises where nobody has a place: followed to the letter, it keeps the pool as it is rated."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.kit.commands import Run

GAMES = "white,black,result,date,half_moves,white_elo,black_elo\nAnn,Bob,1-0,2024-05-03,40,2010,1900\n"
POOLS = [
    ("fide", ["rapid=true"], []),
    ("fide", ["rapid=true", "event_gap=5", "by_event=false", "k_new=32"], []),
    ("fide", ["rapid=true"], ["2020-01-01", "rapid=true", "event_days=20"]),
    ("fide", ["by_event=false", "included_until=0"], ["2020-01-01", "rapid=false"]),
]


def settings(run: Run, path: Path) -> dict[str, object]:
    (pool,) = json.loads(run("pools", path).out)
    return {name: value for name, value in pool["settings"].items() if name != "from_shown"}


@pytest.mark.parametrize(("scheme", "given", "later"), POOLS)
def test_the_advice_keeps_all_settings_of_the_pool(
    scheme: str, given: list[str], later: list[str], tmp_path: Path, run: Run
) -> None:
    path, games = tmp_path / "a club.db", tmp_path / "games.csv"
    names = {line["setting"] for line in json.loads(run("scheme", "show", scheme).out)["settings"]}
    words = [word for setting in given if setting.split("=")[0] in names for word in ("--set", setting)]
    assert run("init", path, "--pool", "rapid", "--scheme", scheme, *words).code == 0
    if later:
        adopted = [word for setting in later[1:] for word in ("--set", setting)]
        assert run("scheme", "adopt", path, "--scheme", scheme, "--from", later[0], *adopted).code == 0
    games.write_text(GAMES)
    assert run("import", path, games).code == 0
    before = settings(run, path)
    said = run("ratings", path)
    advice = re.search(r"sources show: '(scheme adopt .*)'$", said.err.strip())
    assert advice is not None
    done = run(*shlex.split(advice[1].replace("'\\''", "'")))
    assert done.code == 0, done.err
    assert settings(run, path) == before
    assert [row["name"] for row in json.loads(run("ratings", path).out)] == ["Ann", "Bob"]
    assert run("audit", path).code == 0


def test_a_scheme_that_does_not_count_in_elo_points_takes_no_shown_ratings(tmp_path: Path, run: Run) -> None:
    path, games = tmp_path / "club.db", tmp_path / "games.csv"
    assert run("init", path, "--scheme", "ecf-grade").code == 0
    games.write_text(GAMES)
    run("import", path, games)
    assert "scheme adopt" not in run("ratings", path, "--min-games", "5").err
