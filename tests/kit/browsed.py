"""Pages as a browser reads them: what is wrong with one, where it leads, and a whole site walked through."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.etree.ElementTree import Element

import html5lib

_H = "{http://www.w3.org/1999/xhtml}"
_FIELDS = ("input", "select", "textarea")
# What the parser of HTML5 complains of in SVG within HTML, and what is none of it.
_LINKS = ("href", "src", "action", "xlink:href", "{http://www.w3.org/1999/xlink}href")  # the last as a tree says it


def parsed(text: str) -> Element:
    """A page as a tree; a fault of its HTML raises ValueError with its place."""
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("etree"), strict=False)
    tree = parser.parse(text)
    if parser.errors:
        place, code, values = parser.errors[0]
        line = text.splitlines()[place[0] - 1]
        raise ValueError(f"{code} {values} at {place}: {line[max(0, place[1] - 80) : place[1] + 20]}")
    assert isinstance(tree, Element)
    return tree


def elements(tree: Element) -> Iterator[tuple[str, Element]]:
    """Each element with its name."""
    for element in tree.iter():
        if isinstance(element.tag, str):
            yield element.tag.rpartition("}")[2], element


def faults(text: str) -> list[str]:
    """What is wrong with a page, but for its HTML itself."""
    tree = parsed(text)
    every = list(elements(tree))
    by_name: dict[str, list[Element]] = {}
    for name, element in every:
        by_name.setdefault(name, []).append(element)
    wrong = []
    if tree.get("lang") != "en":
        wrong.append("no language")
    titles = [element for element in by_name.get("title", []) if element.tag == f"{_H}title"]
    if len(titles) != 1 or not (titles[0].text or "").strip():
        wrong.append("no title")
    if len(by_name.get("h1", [])) != 1:
        wrong.append(f"{len(by_name.get('h1', []))} headings of the first level")
    labelled = {label.get("for") for label in by_name.get("label", [])}
    inner = {id(field) for label in by_name.get("label", []) for _, field in elements(label)}
    wrong += [
        f"a field without a label: {field.attrib}"
        for name in _FIELDS
        for field in by_name.get(name, [])
        if field.get("type") != "hidden" and field.get("id") not in labelled and id(field) not in inner
    ]
    ids = [element.get("id") for _, element in every if element.get("id")]
    wrong += [f"two of one id: {each}" for each in {each for each in ids if ids.count(each) > 1}]
    for name, element in every:
        wrong += [f"inline: {name} {key}" for key in element.attrib if key == "style" or key.startswith("on")]
        if name == "style" or (name == "script" and not element.get("src")):
            wrong.append(f"inline {name}")
        if name == "img" and element.get("alt") is None:
            wrong.append("a picture without words")
        wrong += [
            f"runs: {element.get(key)}"
            for key in _LINKS
            if re.match(r"\s*(java|vb)script:|\s*data:", element.get(key) or "", re.I)
        ]
    return wrong


class _Links(HTMLParser):
    """Collects where the elements of a page lead: a tenth of the work of a parser that says what is wrong with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.leads: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  # as the parser calls it
        self.leads |= {value or "" for key, value in attrs if key in _LINKS}


def addresses(text: str, page: str) -> set[str]:
    """Whole addresses of all that a page leads to or loads."""
    return {urldefrag(urljoin(page, lead)).url for lead in _Links(text).leads}


def walked(get: Callable[[str], Any], site: str, start: str, most: int) -> dict[str, Any]:
    """Every answer of a site that can be reached from a page of it, by whole address; foreign ones are not asked.

    Args:
        get: asks for an address behind that of the site.
        site: the address of the site.
        start: where to begin, behind it.
        most: how many pages of one kind, told apart by the first part of the path and what is asked.
    """
    answers: dict[str, Any] = {}
    kinds: dict[tuple[str, ...], int] = {}
    waiting = [f"{site}{start}"]
    while waiting:
        address = waiting.pop(0)
        if address in answers or not address.startswith(f"{site}/"):
            continue
        parts = urlsplit(address)
        kind = (re.sub(r"[^/]+$|\d+", "*", parts.path), *re.findall(r"(\w+)=", parts.query))
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] > most:
            continue
        answer = answers[address] = get(address.removeprefix(site))
        if answer.headers.get("content-type", "").startswith("text/html") and answer.status_code == 200:
            waiting += sorted(addresses(answer.text, address))
    return answers
