"""What the journal, the views and the exports hold, told in tables from the classes and the texts that define them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import cleandoc

import attrs

from ledger.answers.exports.datasets import PREPARED
from ledger.answers.published_schemas import ANSWERS, VERSION
from ledger.book.policies import POLICIES
from ledger.book.tables import ColumnDoc
from ledger.facts.events import BY_KIND, OLD_KINDS
from ledger.ratings import projectors, view_tables

from ..serve.routes import PREFIX, ROUTES


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
    for route in ROUTES:
        rows = " (*rows*)" if route.rows else ""
        taken = "".join(f"<br>`{parameter.name}`: {parameter.doc}" for parameter in route.parameters)
        lines.append(f"| `{PREFIX}{route.path}` | {route.doc}{rows}{taken} |")
    return "\n".join(lines)


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
