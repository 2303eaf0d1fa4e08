"""The pages of the reference that follow from the code: entries, tables, exports, answers, HTTP, Python, ASVS."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import attrs

import ledger
from ledger.answers.exports.datasets import NAMED_DATASETS
from ledger.answers.exports.postgres_tables import NAMES, NAMES_DOC, ORIGIN, ORIGIN_DOC
from ledger.answers.published_schemas import ANSWERS, VERSION
from ledger.book.policies import POLICIES
from ledger.book.tables import ColumnDoc
from ledger.correcting.verbs import MOST_ROWS
from ledger.facts.events import BY_KIND, OLD_KINDS
from ledger.ratings import installed_projectors, table_docs
from ledger.recording.findings import CHECKS, Severity

from ..serve import limits
from ..serve.atom import ROUTES as ATOM
from ..serve.log import ROUTES as LOG
from ..serve.pages import ROUTES as PAGES
from ..serve.parameters import Parameter
from ..serve.post_routes import IMPORT, IMPORT_DOC, IMPORT_PARAMETERS, OF_A_JOB, OF_A_JOB_DOC, POSTS
from ..serve.routes import FEED, PREFIX, ROUTES
from ..serve.settings import SETTINGS, word_of


def kinds() -> str:
    """Return the page of the kinds of entries, each with its fields and its schema."""
    parts = [
        "# Entries of the journal",
        "One entry is one fact: position, kind, key, time, actor and facts, as canonical JSON (RFC 8785). Kinds that "
        "are no longer written can still be read. An adoption of a scheme names all its settings; `scheme-adopted/1` "
        "named only those that differed from the defaults.",
    ]
    for kind, cls in BY_KIND.items():
        fields = [f"* `{field.name}`{_left_out(field)}: {field.metadata['doc']}" for field in attrs.fields(cls)]
        parts += [f"## `{kind}`", f"{_first(cls)} {_schema('events', kind)}", "\n".join(fields)]
    for kind, (cls, later) in OLD_KINDS.items():
        without = ", ".join(f"`{name}`" for name in sorted(later))
        words = f"Read as `{cls.KIND}`, no longer written; it has no {without}. {_schema('events', kind)}"
        parts += [f"## `{kind}`", words]
    return "\n\n".join(parts)


def views() -> str:
    """Return the page of the tables of the views, and of those that only a copy on a PostgreSQL server has."""
    described = table_docs.table_docs(installed_projectors.BUILT_IN)
    beside = {ORIGIN: ORIGIN_DOC, NAMES: NAMES_DOC}
    return "\n\n".join([
        "# Tables of the views",
        "The tables of `club.views.db`, for `rating-ledger query`, Datasette and any other reader of SQLite. "
        "Players are numbers in them.",
        *_described((name, table.doc, table.columns) for name, table in described.items()),
        "## Tables of a copy on a server",
        "`rating-ledger export --to postgresql://...` writes the tables above, and these:",
        *_described((name, table.doc, table.columns) for name, table in beside.items()),
    ])  # fmt: skip


def exports() -> str:
    """Return the page of the exports, each with its columns."""
    columns = {name: {column.name: column.meaning for column in item.columns} for name, item in NAMED_DATASETS.items()}
    parts = ["# Columns of exports", "The rows that `rating-ledger export` writes."]
    return "\n\n".join([*parts, *_described((name, item.doc, columns[name]) for name, item in NAMED_DATASETS.items())])


def answers() -> str:
    """Return the page of the answers that commands print as JSON, each with its schema."""
    lines = [
        "# Answers as JSON", "",
        "A command prints an object, or a list of objects, with the fields of its schema. An answer has the name of "
        "its command: `opponents-against` is that of `opponents --against`.", "",
        "| answer | what it is |", "|---|---|",
    ]  # fmt: skip
    for name, cls in ANSWERS.items():
        lines.append(f"| [`{name}`](/schemas/answers/{name}-{VERSION}.json) | {_first(cls)} |")
    return "\n".join(lines)


def http() -> str:
    """Return the page of the addresses of the server, and of its limits."""
    return "\n\n".join([
        "# HTTP addresses",
        "The same as OpenAPI: [`v1.json`](/schemas/api/v1.json); a server has it at `/api/v1/openapi.json`.",
        "## Ask", addresses(), "## Record", posts(), "## Pages", pages(), "## Files and feeds", files_of_the_server(),
        "## Settings", settings(), "## Limits", limits_of_the_server(),
    ])  # fmt: skip


def python() -> str:
    """Return the page of the public names of the package, as reStructuredText for autodoc."""
    title = "Python API: every public name"
    parts = [title, "=" * len(title), ""]
    for name in ledger.__all__:
        members = ["   :members:"] if isinstance(getattr(ledger, name), type) else []
        directive = "autoclass" if isinstance(getattr(ledger, name), type) else "autofunction"
        parts += [f".. {directive}:: ledger.{name}", *members, ""]
    return "\n".join(parts)


def addresses() -> str:
    """Return the addresses that answer, with their parameters."""
    lines = ["| GET | answer; parameters |", "|---|---|"]
    for route in (*ROUTES, *FEED):
        rows = " (*rows*)" if route.rows else ""
        taken = "".join(f"<br>`{parameter.name}`: {parameter.doc}" for parameter in route.parameters)
        lines.append(f"| `{PREFIX}{route.path}` | {route.doc}{rows}{taken} |")
    return "\n".join(lines)


def posts() -> str:
    """Return the addresses at which programs record."""
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
    """Return the pages of the server."""
    shown = (route for route in PAGES if route.template is not None)
    rows = (f"| `{route.path.replace(':path', '')}` | {route.doc.splitlines()[0]} |" for route in shown)
    return "\n".join(["| address | what it shows |", "|---|---|", *rows])


def files_of_the_server() -> str:
    """Return the files of the log, and the feeds."""
    rows = (
        f"| `{route.path.replace(':path', '')}` | {route.doc} | `{route.media[0].partition(';')[0]}` |"
        for route in (*LOG, *ATOM)
    )
    return "\n".join(["| address | what it is | media type |", "|---|---|---|", *rows])


def settings() -> str:
    """Return the settings of the server."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for name, (setting, default) in SETTINGS.items():
        shown = "" if default is None else f"`{default}`"
        choices = f" ({', '.join(f'`{word}`' for word in setting.choices)})" if setting.choices else ""
        lines.append(f"| `{word_of(name)}` | {shown} | {setting.doc}{choices} |")
    return "\n".join(lines)


def limits_of_the_server() -> str:
    """Return the limits of the server."""
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
    """Return the page of the requirements of the ASVS, levels 1 and 2, each with its tests or the reason for none."""
    lines = [
        "# OWASP ASVS", "",
        "The requirements of levels 1 and 2 of the OWASP Application Security Verification Standard 5.0.0, in short "
        "words of our own; [the standard](https://owasp.org/www-project-application-security-verification-standard/) "
        "has the full text. A test checks that every test named here exists.", "",
        "| line | level | what | how |", "|---|---|---|---|",
    ]  # fmt: skip
    for number, line in asvs_lines().items():
        lines.append(f"| {number} | {line['level']} | {line['what']} | {_held(line)} |")
    return "\n".join(lines)


def asvs_lines() -> Mapping[str, Mapping[str, Any]]:
    """Return the requirements of ``asvs.toml`` by their numbers."""
    return tomllib.loads(Path(__file__).with_name("asvs.toml").read_text("utf-8"))


def _held(line: Mapping[str, Any]) -> str:
    for word, says in (
        ("absent", "does not apply"),
        ("owner", "for the owner of the server"),
        ("not_held", "**not met**"),
        ("open", "*open*"),
    ):
        if word in line:
            return f"{says}: {line[word]}"
    names = []
    for test in line["tests"]:
        file, _, name = test.partition("::")
        named = f"`{Path(file).name}`"
        names.append(named if name == "*" else f"{named}: {name.removeprefix('test_').replace('_', ' ')}")
    return ("by the proxy; " if line.get("by") == "proxy" else "") + "<br>".join(names)


def report_checks() -> str:
    """Return the table of the checks of tournament reports, by severity."""
    head = ["| code | | finding | what to do |", "|---|---|---|---|"]
    order = list(Severity)
    rows = sorted(CHECKS.items(), key=lambda item: order.index(item[1].severity))
    return "\n".join(
        [*head, *(f"| `{code}` | {check.severity.value} | {check.finds} | {check.advice} |" for code, check in rows)]
    )


def policies() -> str:
    """Return the table of the policies with their settings."""
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


def _described(rows: Iterable[tuple[str, str, Mapping[str, ColumnDoc]]]) -> Iterator[str]:
    for name, doc, columns in rows:
        lines = ["| column | unit | meaning |", "|---|---|---|"]
        lines += [f"| `{column}` | {meaning.unit or ''} | {meaning.doc} |" for column, meaning in columns.items()]
        yield f"## {name}\n\n{doc}\n\n" + "\n".join(lines)


def _schema(folder: str, kind: str) -> str:
    return f"[Schema](/schemas/{folder}/{kind.replace('/', '-')}.json)."


def _first(cls: type) -> str:
    """Return the first paragraph of the docstring of a class."""
    return " ".join(cleandoc(cls.__doc__ or "").partition("\n\n")[0].replace("``", "`").split())


def _left_out(field: attrs.Attribute[object]) -> str:
    return "" if field.default is attrs.NOTHING else " (*optional*)"
