"""Workbooks as Excel (.xlsx) and LibreOffice (.ods) write them, with the parts that a reader needs."""

import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from io import BytesIO
from typing import Any
from xml.sax.saxutils import quoteattr

from ledger.imports.csv.header import column_letters

Rows = Sequence[Sequence[Any]]
Sheets = Mapping[str, Rows]
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DAY_ONE = datetime(1899, 12, 30)
_FORMATS = {date: 14, datetime: 22, time: 20}  # of Excel: a day, a day with its time, a time
_TABLES = "urn:oasis:names:tc:opendocument:xmlns"


def _escaped(value: str) -> str:
    return quoteattr(value).replace("\n", "&#10;")[1:-1].replace("<", "&lt;")


def _zipped(parts: Mapping[str, str]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            # the type of an .ods comes first and is not packed
            how = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            packed.writestr(name, content, how)
    return file.getvalue()


def _serial(value: date | time) -> float:
    if isinstance(value, datetime):
        return (value - _DAY_ONE).total_seconds() / 86_400
    if isinstance(value, time):
        return (value.hour * 3600 + value.minute * 60 + value.second) / 86_400
    return (value - _DAY_ONE.date()).days


def _xlsx_cell(place: str, value: Any) -> str:
    if value is None:
        return ""
    if type(value) in _FORMATS:
        return f'<c r="{place}" s="{1 + list(_FORMATS).index(type(value))}"><v>{_serial(value)}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{_escaped(value)}</t></is></c>'


def xlsx(sheets: Sheets, hidden: Sequence[str] = (), body: str = "") -> bytes:
    """The bytes of an .xlsx; days and times are numbers with a format, as Excel stores them.

    *body*: rows in XML below those of each sheet.
    """
    listed, links, parts = "", "", dict[str, str]()
    for number, (name, rows) in enumerate(sheets.items(), 1):
        state = ' state="hidden"' if name in hidden else ""
        listed += f'<sheet name="{_escaped(name)}" sheetId="{number}" r:id="rId{number}"{state}/>'
        links += f'<Relationship Id="rId{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        lines = (
            f'<row r="{at}">{"".join(_xlsx_cell(f"{column_letters(c)}{at}", cell) for c, cell in enumerate(row))}</row>'
            for at, row in enumerate(rows, 1)
            if row
        )
        rows_of_sheet = f"<sheetData>{''.join(lines)}{body}</sheetData>"
        parts[f"xl/worksheets/sheet{number}.xml"] = f'<worksheet xmlns="{_MAIN}">{rows_of_sheet}</worksheet>'
    links += f'<Relationship Id="rId0" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    root = f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    formats = "".join(f'<xf numFmtId="{number}"/>' for number in (0, *_FORMATS.values()))
    return _zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{root}</Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
            "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs>{formats}</cellXfs></styleSheet>',
            **parts,
        }
    )


def _ods_cell(value: Any) -> str:
    match value:
        case None:
            return "<table:table-cell/>"
        case bool():
            kind = f'office:value-type="boolean" office:boolean-value="{str(value).lower()}"'
        case int() | float():
            kind = f'office:value-type="float" office:value="{value}"'
        case date():
            kind = f'office:value-type="date" office:date-value="{value.isoformat()}"'
        case time():
            kind = f'office:value-type="time" office:time-value="{value.strftime("PT%HH%MM%SS")}"'
        case _:
            kind = 'office:value-type="string"'
    return f"<table:table-cell {kind}><text:p>{_escaped(str(value))}</text:p></table:table-cell>"


def ods(sheets: Sheets) -> bytes:
    """The bytes of an .ods; a day has its value beside the text that is shown."""
    tables = "".join(
        f'<table:table table:name="{_escaped(name)}">'
        + "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    names = " ".join(f'xmlns:{word}="{_TABLES}:{word}:1.0"' for word in ("office", "table", "text"))
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    return _zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": f"<office:document-content {names}>{body}</office:document-content>",
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{_TABLES}:manifest:1.0"/>',
        }
    )
