"""The files of the guide for a rating officer: real reports in one year, with invented names and numbers.

Rounds, colours, results, ratings, titles, byes and forfeits are those of the reports. Real people are in them, so each
player gets another name and another number; days and years of birth move by whole years.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.kit.places import DATA

GUIDE = "tools/officer/README.md"
REPORTS = DATA / "trf"
ABSENT = f"the guide for a rating officer runs on real reports, and their folder is absent: {REPORTS}"

MEN = (
    "Anders", "Bjarne", "Carl", "Dag", "Einar", "Finn", "Gunnar", "Harald", "Ivar", "Jonas",
    "Knut", "Leif", "Magnus", "Nils", "Olav", "Per", "Rolf", "Sven", "Tor", "Ulf",
)  # fmt: skip
WOMEN = (
    "Astrid", "Berit", "Dagny", "Elin", "Frida", "Gudrun", "Hedda", "Ingrid", "Kari", "Liv",
    "Marit", "Nora", "Ragna", "Signe", "Tuva", "Vilde", "Ylva", "Ase", "Oda", "Eva",
)  # fmt: skip
SURNAMES = (
    "Aasen", "Brekke", "Dahl", "Eide", "Fjeld", "Grov", "Holm", "Krog", "Lund",
    "Moen", "Nygaard", "Opsahl", "Ruud", "Skaar", "Tveit", "Ulvik", "Vik", "Wold",
)  # fmt: skip
CLUBS = ("Ek SK", "Havn SF", "Fjell SK", "Nordby SK")
MOVED_NUMBER = 90_000_000
"""Added to a FIDE number, so that it is nobody's."""
JUNIORS_SINCE = 2007
"""Year of birth of the oldest juniors in the year of the guide."""
TITLES = {"g": "GM", "m": "IM", "f": "FM", "wf": "WFM"}
TOURNAMENTS: Sequence[tuple[str, str, int, Mapping[str, str]]] = (
    (
        "sklangen_example1.trf", "open.trf", 20,
        {"012": "Summer Open", "042": "2025/07/28", "052": "2025/07/31", "102": "IA Sand, Mona", "112": ""},
    ),
    (
        "echecsjs_javafo_sample2.trf", "autumn.trf", 15,
        {"012": "Autumn Open", "042": "2025/09/24", "052": "2025/10/02", "102": "IA Sand, Mona"},
    ),
    ("sklangen_2020_06.trf", "blitz.trf", 0, {"012": "May Blitz", "042": "2025/05/29", "052": "2025/05/29"}),
)  # fmt: skip
"""The reports of the guide: file, name there, the years by which births move, and the lines that are replaced."""
COLUMNS = ("fide_id", "name", "sex", "title", "federation", "rating", "k", "birth_date", "club")


def place(folder: Path) -> None:
    """Write the files of the guide into a folder: ``members.csv``, ``open.trf``, ``autumn.trf`` and ``blitz.trf``."""
    members: list[Mapping[str, str]] = []
    for source, name, years, heads in TOURNAMENTS:
        written = []
        for line in (REPORTS / source).read_text(encoding="utf-8").splitlines():
            head = heads.get(line[:3])
            if line.startswith("001"):
                if years:
                    members.append(_member(line, len(members), years))
                written.append(_line(line, members[-1] if years else members[10 * int(line[4:8])]))
            else:
                written.append(line if head is None else f"{line[:3]} {head}")
        (folder / name).write_text("\n".join(written) + "\n", encoding="utf-8")
    with (folder / "members.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(members)


def _member(line: str, number: int, years: int) -> Mapping[str, str]:
    """Return the row of a player in the list of the members."""
    sex, title = "w" if line[9] in "fw" else "m", line[10:13].strip()
    turn, surname = divmod(number, len(SURNAMES))
    given = (WOMEN if sex == "w" else MEN)[(turn + surname) % len(MEN)]
    fide, born, rating = int(line[57:68].strip() or 0), line[69:79].strip(), int(line[48:52].strip() or 0)
    is_junior = born >= str(JUNIORS_SINCE - years)
    return {
        "fide_id": str(fide + MOVED_NUMBER) if fide else "",
        "name": f"{SURNAMES[surname]}, {given}",
        "sex": sex,
        "title": TITLES.get(title, ""),
        "federation": line[53:56].replace("ESP", "").strip() or "GER",
        "rating": str(rating or ""),
        "k": ("10" if rating >= 2400 else "40" if is_junior else "20") if rating else "",
        "birth_date": f"{int(born[:4]) + years}{born[4:]}".replace(".", "-") if born else "",
        "club": CLUBS[turn % len(CLUBS)],
    }


def _line(line: str, member: Mapping[str, str]) -> str:
    """Return the line of a player with the name, the number and the birth of the list."""
    born = member["birth_date"].replace("-", "/" if len(member["birth_date"]) == 10 else "-")
    federation = line[53:56].replace("ESP", "GER")
    who = f"{line[:14]}{member['name']:33}{line[47:53]}{federation}"
    return f"{who}{line[56]}{member['fide_id']:>11}{line[68]}{born:10}{line[79:]}"
