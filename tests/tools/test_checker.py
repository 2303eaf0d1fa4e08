"""The checker: its archive needs nothing that a browser lacks, and every scheme gives the same bits there."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.audit.bundles import bundle_lines
from ledger.errors import StorageError
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.schemes import built_in_names
from tests.kit.checkpoints import KEY, give_key
from tests.kit.commands import Run
from tests.kit.places import SAMPLE
from tests.kit.pyodide import FOLDER, NEEDS_NODE, NEEDS_PYODIDE
from tests.kit.source_files import open_lines
from tools.checker import building
from tools.checker.stand_ins import orjson as stand_in

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SETTINGS: Mapping[str, Mapping[str, int]] = {"fide": {"rules_day": 20_500, "start": 1800}}
AS_A_BROWSER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from in_browser import check, signatures, trust
content = open(sys.argv[2], "rb").read()
for signature in json.loads(signatures(content)):
    trust(*signature)
print(check(content, sys.argv[3], sys.argv[4], lambda *_: None))
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""
Browse = Callable[..., dict[str, object]]


def bundle_of_club(folder: Path, scheme: str = "chessworld", day: str = "2006-07-31") -> Path:
    """The bundle of a list of the sample club, as a scheme rates it."""
    path = folder / scheme / "club.db"
    path.parent.mkdir()
    with open_lines(str(SAMPLE)) as (lines, reading):
        games = list(pgn.read_games(lines, reading))
    settings = SETTINGS.get(scheme)
    with Ledger.create(path, scheme=scheme, settings=settings, clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(games, 500))
        give_key(path)
        published = ledger.publications.publish(day, actor="eve", despite_complaints=True).publication
        assert published.event.players > 0, scheme
        club_bundle = path.with_name(f"{scheme}.bundle")
        club_bundle.write_bytes(b"".join(bundle_lines(ledger, published, KEY.verifier)))
    return club_bundle


@pytest.fixture(name="club_bundle", scope="module")
def _bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle_of_club(tmp_path_factory.mktemp("bundle"))


@pytest.fixture(name="check_as_browser", scope="module")
def _browse(tmp_path_factory: pytest.TempPathFactory, club_bundle: Path) -> Browse:
    """Checks a bundle by the archive alone, in a Python without packages."""
    folder = tmp_path_factory.mktemp("archive")
    with zipfile.ZipFile(BytesIO(building.library_archive())) as archive:
        archive.extractall(folder)

    def check_as_browser(path: Path = club_bundle, key: str = "", head: str = "") -> dict[str, object]:
        command = [sys.executable, "-I", "-S", "-c", AS_A_BROWSER, str(folder), str(path), key, head]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        packages = set(json.loads(done.stderr.splitlines()[-1]))
        assert not packages & {"numpy", "numba", "polars", "zstandard", "sqlite_utils", "click", "rapidfuzz"}
        verdict: dict[str, object] = json.loads(done.stdout)
        return verdict

    return check_as_browser


def test_the_archive_checks_a_bundle_without_any_package(check_as_browser: Browse) -> None:
    verdict = check_as_browser(key=KEY.verifier)
    assert (verdict["false"], verdict["true"], verdict["list"]) == ([], True, "standard@2006-07-31/1")
    assert (verdict["entries"], verdict["players"], verdict["kept"]) == (918, 16, None)
    assert verdict["rows"][0][:3] == [1, 13, 1919]  # type: ignore[index]


@pytest.mark.slow
def test_the_page_is_told_which_field_cannot_be_read(check_as_browser: Browse) -> None:
    assert check_as_browser(key="no key")["refused"] == "key"
    assert check_as_browser(head="917")["refused"] == "head"


@pytest.mark.slow
def test_a_kept_checkpoint_is_compared(check_as_browser: Browse, club_bundle: Path) -> None:
    note = json.loads(club_bundle.read_bytes().partition(b"\n")[0])["checkpoint"]
    assert check_as_browser(head=note)["kept"] == 918
    verdict = check_as_browser(head=f"917 {'0' * 64}")
    assert verdict["true"] is False


@pytest.mark.slow
def test_a_changed_entry_is_named_on_the_page(check_as_browser: Browse, club_bundle: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt.bundle"
    spoilt.write_bytes(club_bundle.read_bytes().replace(b'"outcome":"white"', b'"outcome":"black"', 1))
    falsehoods: Any = check_as_browser(spoilt)["false"]
    ((table, position, message),) = falsehoods
    assert (table, position) == ("journal", 18)
    assert message.startswith("is not the entry that was signed")


FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_the_stand_in_writes_the_json_that_orjson_writes(value: object) -> None:
    option = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    written = stand_in.dumps(value, option=stand_in.OPT_SORT_KEYS | stand_in.OPT_APPEND_NEWLINE)
    assert written == orjson.dumps(value, option=option)
    assert stand_in.loads(written) == orjson.loads(written)


@pytest.fixture(name="pyodide")
def _pyodide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that passes for Pyodide."""
    folder = tmp_path / "pyodide"
    folder.mkdir()
    contents = {name: f"of {name}".encode() for name in building.PYODIDE_FILES}
    contents["pyodide-lock.json"] = b'{"info": {"version": "0"}, "packages": {"numpy": {}}}'
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    digests = {name: sha256(content).hexdigest() for name, content in contents.items()}
    monkeypatch.setattr(building, "PYODIDE_FILES", digests)
    return folder


def test_the_folder_has_the_page_and_every_part_packed(pyodide: Path, tmp_path: Path, run: Run) -> None:
    done = run("checker", tmp_path / "check", "--pyodide", pyodide)
    assert done.out.startswith(f"{tmp_path / 'check'}: 10 files, ")
    page = (tmp_path / "check" / "index.html").read_text("utf-8")
    sizes = json.loads(page.partition('id="files">')[2].partition("</script>")[0])
    assert sizes == {name: (tmp_path / "check" / f"{name}.gz").stat().st_size for name in sizes}
    assert gzip.decompress((tmp_path / "check" / "pyodide.mjs.gz").read_bytes()) == b"of pyodide.mjs"
    before = {path.name: path.read_bytes() for path in (tmp_path / "check").iterdir()}
    run("checker", tmp_path / "check", "--pyodide", pyodide)
    assert {path.name: path.read_bytes() for path in (tmp_path / "check").iterdir()} == before


def test_the_single_file_runs_what_its_policy_names_and_asks_nobody(pyodide: Path, tmp_path: Path, run: Run) -> None:
    run("checker", tmp_path / "check.html", "--single-file", "--pyodide", pyodide)
    page = (tmp_path / "check.html").read_text("utf-8")
    policy = page.partition('content="')[2].partition('"')[0]
    assert "connect-src 'none'" in policy
    for kind in ("script", "style"):
        text = page.rpartition(f"<{kind}>")[2].partition(f"</{kind}>")[0]
        digest = base64.b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert re.findall('(?:src|href)="([^"]*)', page) == ["data:,"]
    assert base64.b64encode(gzip.compress(b"of pyodide.mjs", mtime=0)).decode() in page


def test_another_pyodide_than_the_tested_one_is_refused(pyodide: Path, tmp_path: Path, run: Run) -> None:
    (pyodide / "pyodide.mjs").write_bytes(b"another")
    done = run("checker", tmp_path / "check", "--pyodide", pyodide)
    assert (done.code, "is not that of Pyodide" in done.err) == (1, True)
    (pyodide / "pyodide.mjs").unlink()
    done = run("checker", tmp_path / "check", "--pyodide", pyodide)
    assert (done.code, "give the unpacked npm package pyodide" in done.err) == (1, True)


def test_without_npm_the_command_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StorageError, match="is not installed, and fetches Pyodide"):
        building.fetch_pyodide(tmp_path)


@pytest.mark.outside
@NEEDS_NODE
@NEEDS_PYODIDE
def test_every_scheme_gives_the_same_bits_in_pyodide(tmp_path: Path) -> None:
    archive = tmp_path / "ledger.zip"
    archive.write_bytes(building.library_archive())
    bundles = [bundle_of_club(tmp_path, scheme) for scheme in built_in_names()]
    script = Path(__file__).with_name("check_bundles.mjs")
    done = subprocess.run(["node", script, FOLDER, archive, *bundles], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["scheme"], each["true"], each["false"]) for each in verdicts] == [
        (scheme, True, []) for scheme in built_in_names()
    ]
