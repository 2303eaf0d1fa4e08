"""What the journal, the views and the exports hold, told in tables from the classes and the texts that define them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import attrs

from ledger.answers.exports.datasets import PREPARED
from ledger.answers.exports.server_tables import NAMES, NAMES_DOC, ORIGIN, ORIGIN_DOC
from ledger.answers.published_schemas import ANSWERS, VERSION
from ledger.book.policies import POLICIES
from ledger.book.tables import ColumnDoc
from ledger.correcting.verbs import MOST_ROWS
from ledger.facts.events import BY_KIND, OLD_KINDS
from ledger.ratings import projectors, view_tables

from ..serve import limits
from ..serve.atom import ROUTES as ATOM
from ..serve.log import ROUTES as LOG
from ..serve.pages import ROUTES as PAGES
from ..serve.parameters import Parameter
from ..serve.posts import IMPORT, IMPORT_DOC, IMPORT_PARAMETERS, OF_A_JOB, OF_A_JOB_DOC, POSTS
from ..serve.routes import FEED, PREFIX, ROUTES
from ..serve.settings import SETTINGS

ROOT = Path(__file__).parents[2]


def kinds() -> str:
    """Each kind of entry with its fields and its schema."""
    lines = ["| kind | what it says; its fields |", "|---|---|"]
    for kind, cls in BY_KIND.items():
        fields = "".join(map(_field, attrs.fields(cls)))
        lines.append(f"| {_linked(kind)} | {_first(cls)}{fields} |")
    for kind, (cls, later) in OLD_KINDS.items():
        without = ", ".join(f"`{name}`" for name in sorted(later))
        lines.append(f"| {_linked(kind)} | Read as `{cls.KIND}`, no longer written; it has no {without}. |")
    return "\n".join(lines)


def views() -> str:
    """Every table of the views, with its columns."""
    described = view_tables.described(projectors.BUILT_IN)
    return _table("table", ((name, table.doc, table.columns) for name, table in described.items()))


def beside_copies() -> str:
    """The tables that stand beside those of the views on a server of PostgreSQL."""
    beside = {ORIGIN: ORIGIN_DOC, NAMES: NAMES_DOC}
    return _table("table", ((name, table.doc, table.columns) for name, table in beside.items()))


def exports() -> str:
    """Every export, with its columns."""
    made = {name: make(()) for name, make in PREPARED.items()}
    columns = {name: {column.name: column.meaning for column in item.columns} for name, item in made.items()}
    return _table("export", ((name, item.doc, columns[name]) for name, item in made.items()))


def answers() -> str:
    """Every answer that a command prints as JSON, with its schema."""
    lines = ["| answer | what it is |", "|---|---|"]
    for name, cls in ANSWERS.items():
        lines.append(f"| [`{name}`](answers/{name}-{VERSION}.json) | {_first(cls)} |")
    return "\n".join(lines)


def addresses() -> str:
    """Every address of the server, with its parameters."""
    lines = ["| GET | what is answered; its parameters |", "|---|---|"]
    for route in (*ROUTES, *FEED):
        rows = " (*rows*)" if route.rows else ""
        taken = "".join(f"<br>`{parameter.name}`: {parameter.doc}" for parameter in route.parameters)
        lines.append(f"| `{PREFIX}{route.path}` | {route.doc}{rows}{taken} |")
    return "\n".join(lines)


def posts() -> str:
    """Every address at which programs record."""
    lines = ["| POST | role | what it does; its body, or its parameters |", "|---|---|---|"]
    for post in POSTS:
        fields = "".join(f"<br>`{field.name}`: {field.metadata['doc']}" for field in attrs.fields(post.body))
        lines.append(f"| `{PREFIX}{post.path}` | {post.needs} | {post.doc}{fields}{_taken(post.parameters)} |")
    lines.append(f"| `{PREFIX}{IMPORT}` | recorder | {IMPORT_DOC}{_taken(IMPORT_PARAMETERS)} |")
    lines.append(f"| `{PREFIX}{OF_A_JOB}` | any | {OF_A_JOB_DOC} |")
    return "\n".join(lines)


def _taken(parameters: Iterable[Parameter]) -> str:
    return "".join(f"<br>`?{parameter.name}`: {parameter.doc}" for parameter in parameters)


def pages() -> str:
    """Every page of the server."""
    shown = (route for route in PAGES if route.template is not None)
    rows = (f"| `{route.path.replace(':path', '')}` | {route.doc.splitlines()[0]} |" for route in shown)
    return "\n".join(["| address | what it shows |", "|---|---|", *rows])


def files_of_the_server() -> str:
    """What others read beside pages and answers: the log, and feeds."""
    rows = (
        f"| `{route.path.replace(':path', '')}` | {route.doc} | `{route.media[0].partition(';')[0]}` |"
        for route in (*LOG, *ATOM)
    )
    return "\n".join(["| address | what it is | media type |", "|---|---|---|", *rows])


def limits_of_the_server() -> str:
    """How much may be asked of the server, and for how long."""
    rate = SETTINGS["rate"][1]
    rows = (
        ("an address", f"{limits.TARGET_BYTES:,} bytes"),
        ("headers", f"{limits.HEADER_FIELDS}, of {limits.HEADER_BYTES // limits.KIB} KiB together"),
        ("the body of a request", f"{limits.BODY_BYTES // limits.MIB} MiB"),
        (
            f"a file ({', '.join(f'`{place}`' for place in limits.UPLOADS)})",
            f"`largest-upload`, {SETTINGS['largest_upload'][1]} MiB; its format is one that `import` reads",
        ),
        ("of it, a file of corrections at the desk", f"{limits.BATCH_BYTES // limits.MIB} MiB, {MOST_ROWS:,} rows"),
        ("faults that are told of a request", f"{limits.MOST_FAULTS}"),
        ("to say the headers", f"{limits.HEAD_WITHIN:g} s"),
        ("to send a body", f"{limits.BODY_GRACE:g} s, and a second for each {limits.LEAST_RATE // limits.KIB} KiB"),
        (
            "to take an answer",
            f"{limits.ANSWER_GRACE:g} s, and a second for each {limits.LEAST_RATE // limits.KIB} KiB",
        ),
        ("to wait for news (`wait` of `/entries`)", f"{limits.WAIT} s; streams have no end"),
        ("to finish speaking after an early answer", f"{limits.LINGER:g} s"),
        (
            "connections",
            f"{limits.CONNECTIONS:,}, or the open files that the system allows without {limits.SPARE_FILES}",
        ),
        ("connections of one address", f"{limits.CONNECTIONS_OF_ONE}"),
        ("of an answer that is sent in one go", f"{limits.TOGETHER // limits.KIB} KiB"),
        ("answers that nobody has taken yet", f"{limits.WAITING_BYTES // limits.MIB} MiB"),
        (
            "requests of one client",
            f"`rate`, {rate:,} a minute, {limits.BURST:g} s of them at once; one that writes counts as {limits.WRITES}",
        ),
        ("requests of one client that are being answered", f"{limits.AT_ONCE}"),
        (
            "refused credentials of one client",
            f"{limits.FAILURES}, and one more every {limits.FAILURE_EVERY:g} s; meanwhile it may read",
        ),
        ("jobs", f"one at a time, {limits.JOBS_WAITING} that wait, {limits.JOB_WITHIN / 3600:g} h for each"),
        ("results of jobs", f"{limits.JOBS_KEPT}, each for {limits.JOB_KEPT / 3600:g} h"),
        ("clients that are remembered", f"{limits.CLIENTS:,}; of IPv6 a network of 64 bits is one"),
    )
    return "\n".join(["| what | at most |", "|---|---|", *(f"| {what} | {most} |" for what, most in rows)])


def asvs() -> str:
    """Every line of the ASVS of levels 1 and 2: what holds it, or why nothing does."""
    lines = ["| line | level | what | |", "|---|---|---|---|"]
    for number, line in asvs_lines().items():
        lines.append(f"| {number} | {line['level']} | {line['what']} | {_held(line)} |")
    return "\n".join(lines)


def asvs_lines() -> Mapping[str, Mapping[str, Any]]:
    """What ``tests/serve/asvs.toml`` says, by number of the line."""
    return tomllib.loads((ROOT / "tests" / "serve" / "asvs.toml").read_text("utf-8"))


def _held(line: Mapping[str, Any]) -> str:
    for word, says in (
        ("absent", "nothing of that kind"),
        ("owner", "the owner's"),
        ("not_held", "**not held**"),
        ("open", "*open*"),
    ):
        if word in line:
            return f"{says}: {line[word]}"
    names = []
    for test in line["tests"]:
        file, _, name = test.partition("::")
        link = f"[{Path(file).name}](../../{file})"
        names.append(link if name == "*" else f"{link}: {name.removeprefix('test_').replace('_', ' ')}")
    return ("by the proxy; " if line.get("by") == "proxy" else "") + "<br>".join(names)


def policies() -> str:
    """Every policy with its settings."""
    lines = ["| policy | what it says; its settings |", "|---|---|"]
    for name, policy in POLICIES.items():
        settings = {**policy.settings, **({"NAME": policy.further} if policy.further else {})}
        listed = "".join(
            f"<br>`{word}` ({_default(setting.default, setting.unit)}): {setting.doc}"
            for word, setting in settings.items()
        )
        lines.append(f"| `{name}` | {policy.doc}{listed} |")
    return "\n".join(lines)


def _default(default: int | bool, unit: str) -> str:
    return f"*{str(default).lower()}*" if unit == "switch" else f"*{default} {unit}*"


def _table(head: str, rows: Iterable[tuple[str, str, Mapping[str, ColumnDoc]]]) -> str:
    lines = [f"| {head} | columns (*units*: meanings) |", "|---|---|"]
    for name, doc, columns in rows:
        lines.append(f"| `{name}` | {doc}<br>{'<br>'.join(map(_column, columns, columns.values()))} |")
    return "\n".join(lines)


def _column(name: str, meaning: ColumnDoc) -> str:
    unit = f" (*{meaning.unit}*)" if meaning.unit else ""
    return f"`{name}`{unit}: {meaning.doc}"


def _linked(kind: str) -> str:
    return f"[`{kind}`](events/{kind.replace('/', '-')}.json)"


def _first(cls: type) -> str:
    """The first paragraph of what a class says of itself."""
    return " ".join(cleandoc(cls.__doc__ or "").partition("\n\n")[0].replace("``", "`").split())


def _field(field: attrs.Attribute[object]) -> str:
    left_out = "" if field.default is attrs.NOTHING else " (*may be left out*)"
    return f"<br>`{field.name}`{left_out}: {field.metadata['doc']}"
