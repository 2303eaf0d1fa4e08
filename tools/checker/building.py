"""Builds the checker: the page, Pyodide and the part of the library that a check needs, as a folder or as one file."""

from __future__ import annotations

import ast
import base64
import gzip
import json
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.metadata import files as installed_files
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import ledger
from ledger.errors import StorageError
from ledger.runtime.ledger_files import replace_file

from .content_policy import INDEX, content_policy

PYODIDE = "314.0.7"  # the version that the tests run; https://pyodide.org, MPL-2.0
# SHA-256 of its files, so that nobody gets another program than the one that was tested.
PYODIDE_FILES = MappingProxyType({
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
    "pyodide-lock.json": "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010",
})  # fmt: skip
LIBRARY = "ledger.zip"
_PAGE = Path(__file__).with_name("page")
_STAND_INS = Path(__file__).with_name("stand_ins")
_LEDGER = Path(ledger.__file__).parent
_CHECK = "ledger.audit.bundle_check"
_BY_NAME = ("ledger.schemes", "ledger.ratings.projectors")  # whose modules are loaded by their names
_PACKAGES = ("attrs", "cattrs", "filelock", "typing_extensions")
_DAY = (2006, 1, 1, 0, 0, 0)  # of every file in an archive: the same program gives the same bytes


def checker_files(pyodide: Path) -> dict[str, bytes]:
    """Return the parts of the program, by name.

    Args:
        pyodide: the folder of Pyodide's npm package.

    Raises:
        StorageError: a file of it is missing, or is not that of the tested version.
    """
    parts = {name: _pyodide_file(pyodide, name, digest) for name, digest in PYODIDE_FILES.items()}
    lock = json.loads(parts["pyodide-lock.json"])
    parts["pyodide-lock.json"] = json.dumps({"info": lock["info"], "packages": {}}).encode()  # none of them is loaded
    return {**parts, LIBRARY: library_archive(), "worker.js": (_PAGE / "worker.js").read_bytes()}


def _pyodide_file(folder: Path, name: str, digest: str) -> bytes:
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        raise StorageError(str(folder / name), f"cannot be read ({error.strerror}); {_GET_IT}") from error
    if sha256(content).hexdigest() != digest:
        raise StorageError(str(folder / name), f"is not that of Pyodide {PYODIDE}; {_GET_IT}")
    return content


_GET_IT = f"give the unpacked npm package pyodide {PYODIDE} by --pyodide"


def fetch_pyodide(folder: Path) -> Path:
    """Fetch Pyodide's npm package by npm into a folder; return the folder of its files.

    Raises:
        StorageError: npm is not installed, or cannot fetch it.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise StorageError("npm", f"is not installed, and fetches Pyodide; install Node.js, or {_GET_IT}")
    command = [npm, "pack", "--silent", "--pack-destination", str(folder), f"pyodide@{PYODIDE}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)  # noqa: S603
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().split("\n")[-1] or f"exit code {error.returncode}"
        raise StorageError("npm", f"cannot fetch Pyodide ({said}); {_GET_IT}") from error
    with tarfile.open(folder / f"pyodide-{PYODIDE}.tgz") as package:
        package.extractall(folder, filter="data")
    return folder / "package"


# -- the library ------------------------------------------------------------------------------------------------------


def library_archive() -> bytes:
    """Return a ZIP archive of the modules that a check needs: ours, what they need, and stand-ins for compiled ones."""
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, path in sorted(_library_files()):
            packed.writestr(zipfile.ZipInfo(name, _DAY), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def _library_files() -> Iterator[tuple[str, Path]]:
    """Yield the names and paths of the files in the archive."""
    for path in modules_needed(_CHECK):
        yield f"ledger/{path.relative_to(_LEDGER).as_posix()}", path
        if path.name == "__init__.py":
            for data in path.parent.glob("*.toml"):
                yield f"ledger/{data.relative_to(_LEDGER).as_posix()}", data
    for package in _PACKAGES:
        for file in installed_files(package) or ():
            if file.suffix == ".py" and ".." not in file.parts:
                yield file.as_posix(), Path(str(file.locate()))
    for path in _STAND_INS.rglob("*.py"):
        yield path.relative_to(_STAND_INS).as_posix(), path
    yield "in_browser.py", Path(__file__).with_name("in_browser.py")


def modules_needed(module: str) -> set[Path]:
    """Return the files of our library that a module imports, directly or not, wherever in a file it is written."""
    found: set[Path] = set()
    waiting = [module, *(f"{package}.{path.stem}" for package in _BY_NAME for path in _folder(package).glob("*.py"))]
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if path is None or path in found:
            continue
        found.add(path)
        waiting += name.rpartition(".")[:1]
        waiting += _imports(ast.parse(path.read_bytes()))
    return found


def _imports(tree: ast.AST) -> Iterator[str]:
    """Yield the names of all modules that a tree may import, except those for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (name for other in node.orelse for name in _imports(other))
        else:
            yield from _imports(node)


def _folder(name: str) -> Path:
    return _LEDGER.joinpath(*name.split(".")[1:])


def _path(name: str) -> Path | None:
    """Return the file of a module of ours; None for any other name."""
    if name.partition(".")[0] != "ledger":
        return None
    folder = _folder(name)
    places = (folder / "__init__.py", folder.with_name(f"{folder.name}.py"))
    return next((path for path in places if path.is_file()), None)


# -- the page ---------------------------------------------------------------------------------------------------------


def folder_files(parts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a checker that a web server serves, by name; the parts are packed by gzip."""
    packed = {name: gzip.compress(content, mtime=0) for name, content in parts.items()}
    sizes = _data("files", json.dumps({name: len(content) for name, content in packed.items()}))
    page = _page(
        content_policy(script="'self'", style="'self'", connect="'self'"),
        style='<link rel="stylesheet" href="checker.css">',
        script=f'{sizes}\n<script src="checker.js" defer></script>',
    )
    plain = {name: (_PAGE / name).read_bytes() for name in ("checker.css", "checker.js")}
    return {INDEX: page, **plain, **{f"{name}.gz": content for name, content in packed.items()}}


def single_file(parts: Mapping[str, bytes]) -> bytes:
    """Return a checker in one HTML file, which works from the disk."""
    packed = {name: gzip.compress(content, mtime=0) for name, content in parts.items()}
    style, script = ((_PAGE / name).read_text("utf-8") for name in ("checker.css", "checker.js"))
    data = [_data("files", json.dumps({name: len(content) for name, content in packed.items()}))]
    data += [_data(f"file-{name}", base64.b64encode(content).decode()) for name, content in packed.items()]
    return _page(
        content_policy(script=_source(script), style=_source(style), connect="'none'"),
        style=f"<style>{style}</style>",
        script="\n".join([*data, f"<script>{script}</script>"]),
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(name: str, content: str) -> str:
    """Return a block of data, which a browser neither runs nor shows."""
    return f'<script type="text/plain" id="{name}">{content}</script>'


def _page(rules: str, *, style: str, script: str) -> bytes:
    text = (_PAGE / INDEX).read_text("utf-8")
    for mark, content in (("POLICY", rules), ("<!-- STYLE -->", style), ("<!-- SCRIPT -->", script)):
        text = text.replace(mark, content, 1)
    return text.encode()


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, which is made if need be; each replaces the one of its name.

    Raises:
        StorageError: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            replace_file(folder / name, content)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise StorageError(str(folder), f"takes no files: {getattr(error, 'strerror', None) or error}") from error
