"""Games in PGN of any dialect (Lichess, FICS, chess.com, TWIC, old ChessBase), in one pass.

Lines become games in ``pgn.lines``, moves are read in ``board.movetext``, dates and clocks in ``times``; here
tags get their meaning. Moves are counted, never played: no board, no rules of chess. No file is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache

import attrs

from ledger.board.movetext import RESULTS, Movetext, read_movetext
from ledger.facts.event_fields import MAX_HALF_MOVES, MAX_RATING
from ledger.facts.source_games import SourceGame, excerpt, plain_key
from ledger.facts.submissions import tournament_key
from ledger.imports.csv import values
from ledger.imports.lichess import lichess_player, one_line
from ledger.imports.pgn.lines import (
    MAX_GAME,
    MAX_TAGS,
    MAX_VALUE,
    GameLines,
    decode_game,
    drop_long_tags,
    read_tags,
    split_games,
)
from ledger.imports.reading import (
    DAY_LENGTH,
    MAX_EVENT,
    MAX_NAME,
    MAX_TEXT,
    VARIANT,
    Reading,
    chesscom_key,
    lichess_key,
    name_identity,
)
from ledger.imports.time_controls import fide_class
from ledger.imports.times import clock_seconds, parse_pgn_date, parse_time_control, to_utc

MAX_RESULT = 40  # characters of a result
_BOTH_FORFEITED = "both forfeited"
_LONE_NUMBERS = frozenset({"0", "1", "0.0", "1.0", "0,0", "1,0"})
_ESSENTIAL = frozenset({"White", "Black", "Result"})
_KEPT_TAGS = _ESSENTIAL | {"Event", "Site", "Date", "UTCDate", "UTCTime", "Round", "Variant", "Termination", "Rated"}
_LICHESS_ID = re.compile(r"[A-Za-z0-9]{8}(?:[A-Za-z0-9]{4})?", re.ASCII)
# What servers write for a game that belongs to no tournament.
_NO_EVENT = {
    "lichess": re.compile(r"(?:Rated|Casual|Unrated) \S.{0,40}? game", re.IGNORECASE),  # "King of the Hill"
    "fics": re.compile(r"FICS (?:rated|unrated) \S+ game", re.IGNORECASE),
    "chesscom": re.compile(r"(?:Live|Daily|Let's Play!?) ?(?:Chess)?", re.IGNORECASE),
}
# Where Lichess says itself whether a game is rated; the name of an arena may begin with any word.
_SAYS_RATED = re.compile(
    r"(rated|casual|unrated) (?:(?:\S.{0,40}? )?game|\S.*https://lichess\.org/(?:tournament|swiss)/\S+)", re.IGNORECASE
)
_FICS_NUMBER = re.compile(r"\d{1,20}", re.ASCII)
_PLY_COUNT = re.compile(r"0|[1-9]\d{0,5}", re.ASCII)
_FIDE_ID = re.compile(r"[1-9]\d{4,8}", re.ASCII)
_TAG_NAME = re.compile(rb"\s*\[\s*(\w+)\b")
# A small packed file unpacks to millions of tags that are no games, each with faults of its own to report.
MAX_SCRAPS = 10_000  # more of them than games
_SCRAP = 128  # bytes; the seven tags of a game have more, and so have moves
_TIME = re.compile(r"(\d\d?):(\d\d)(?::(\d\d))?(?:\.\d+)?(?:Z| ?(?:GMT|UTC)?([+-](?:\d\d(?::?\d\d)?|\d))?)", re.ASCII)
_START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"
_VARIANTS = {"normal": "standard", "chess": "standard", "fischerandom": "chess960", "3Check": "threeCheck"}
_USUAL_RULES = frozenset({"standard", "fromPosition", "chess960"})  # no player wins but by mate, flag, resigning

# PGN 9.8.1 and Lichess's own words.
_TERMINATIONS = {
    "time forfeit": "time",
    "abandoned": "abandonment",
    "rules infraction": "rules-infraction",
    "insufficient material": "insufficient-material",
    "adjudication": "adjudication",
    "death": "unknown",
    "emergency": "unknown",
    "unknown": "unknown",
}
# How servers say it in a sentence; the last phrase counts, since names come first ("Stalemate resigns").
_PHRASE = re.compile(
    r"(?P<time>timeout vs insufficient material|\bran out of time\b.*|\bon time\b|\btime forfeit)"
    r"|(?P<checkmate>\bcheckmated\b|\bby checkmate\b)|(?P<resignation>\bresign(?:s|ed|ation)\b)"
    r"|(?P<agreement>\bagreement\b)|(?P<stalemate>\bstalemate\b)|(?P<repetition>\brepetition\b)"
    r"|(?P<fifty_move>\b(?:50|fifty)[- ]move)|(?P<insufficient_material>\b(?:insufficient|mating) material\b)"
    r"|(?P<abandonment>\bdisconnect|\babandon|\blost connection|\bleft the game\b)"
    r"|(?P<adjudication>\badjudicat)"
    r"|(?P<rules_infraction>\binfraction\b|\bcheat)",
    re.IGNORECASE,
)
# Of a game without a move; one that was begun may be forfeited as well, and is rated (FIDE B.02, RULES 1.8).
_NOT_PLAYED = re.compile(r"\b(?:unplayed|not played|walk-?over|(?<!time )forfeit|by default)\b", re.IGNORECASE)
_CLOSING = re.compile(r"\{\s*([^{}]{1,120}?)\s*\}\s*(?:1-0|0-1|1/2-1/2)?\s*$")
# Only sentences that a server writes: an annotator's last words may speak of stalemates that never came.
_SERVER_SENTENCE = re.compile(
    r"(?:Game \d+ \(.*\) )?(?:Game (?:drawn|adjudicated|is a draw)\b.*|Neither player has mating material"
    r"|\S+ (?:checkmated|resigns|left the game|lost connection.*|forfeits (?:on time|by .*)|ran out of time.*"
    r"|disconnected.*|(?:wins|won) (?:on time|by .*)))\W*",
    re.IGNORECASE,
)


@attrs.define
class _Case:
    """One game while its tags are given their meaning; *problems* are (line, message)."""

    draft: GameLines
    tags: dict[str, str]
    text: str
    moves: Movetext
    problems: list[tuple[int, str]] = attrs.Factory(list)
    is_forfeit: bool = False
    # the first line of each tag, from that of the game
    places: dict[bytes, int] | None = None

    def tag(self, *names: str) -> str:
        """Return the first of these tags with content, as one line; ``?``, ``???`` and ``-`` are blank."""
        for name in names:
            value = one_line(self.tags.get(name, ""))
            if value.strip("?") not in {"", "-"}:
                return value
        return ""

    def bad(self, name: str, message: str) -> None:
        """Note a fault at the line of a tag, or of the game where the tag is missing."""
        # once for all faults: a head may have a million lines
        if self.places is None:
            marks = ((place, _TAG_NAME.match(line)) for place, line in enumerate(self.draft.head) if b"[" in line)
            # Of two equal tags the first one counts, so it goes into the mapping last.
            self.places = {mark[1]: place for place, mark in reversed([*marks]) if mark}
        self.problems.append((self.draft.line + self.places.get(name.encode(), 0), message))


def read_games(lines: Iterable[bytes], reading: Reading) -> Iterator[SourceGame]:
    """Yield the finished games of a PGN file, in file order, holding one game in memory.

    Faults, each with its line: a tag without which no game can be recorded is missing or unreadable, a word
    is no move, a comment or variation is never closed, the file ends inside its last game, no tag in the
    whole file. Where a part has ``MAX_SCRAPS`` more scraps than games, tags of a few bytes that are none, the file is
    not read on. Games with result ``*`` or Termination "Unterminated" are counted in
    ``reading.skipped["unfinished"]``.
    """
    scraps = 0  # less the games
    for draft in split_games(lines, reading.first_line, has_more=reading.has_more):
        if not draft.head:
            what = "no PGN tag in the whole file" if reading.bytes_read else "the file is empty"
            reading.file_fault(1, f"{what}: give PGN, CSV, TRF, Lichess NDJSON, chess.com JSON or JSON lines")
            continue
        if draft.untagged:
            reading.fault(draft.untagged, "moves without tags: put White, Black, Date and Result above them")
        head, text = decode_game(draft.head), decode_game(draft.moves)
        if draft.size > MAX_GAME or head.count("[") > MAX_TAGS:
            size = f"{MAX_GAME} bytes" if draft.size > MAX_GAME else f"{MAX_TAGS} tags"
            advice = "split the file here" if draft.size > MAX_GAME else "leave out what is not needed"
            reading.fault(draft.line, f"a game of more than {size}, the limit of a game: {advice}")
            continue
        tags, twice = read_tags(head)
        case = _Case(draft, tags, text, read_movetext(text))
        for name, length in drop_long_tags(tags).items() if len(head) > MAX_VALUE else ():
            if name in _KEPT_TAGS:
                case.bad(name, f"{name} has {length} characters, more than {MAX_VALUE}, the limit of a tag")
        for name in twice:
            # two games run together, or two reports of one
            if name in _ESSENTIAL:
                case.bad(name, f"{name} stands twice with different values: keep one, or part the games")
        game = _game(case, reading)
        for line, message in case.problems:
            reading.fault(line, message)
        if game is not None and not case.problems:
            scraps = max(0, scraps - 1)
            yield game
        elif (scraps := scraps + (draft.size < _SCRAP)) > MAX_SCRAPS:
            words = f"{MAX_SCRAPS:,} more scraps of a few tags than games, the limit of what is no game"
            reading.stop(draft.line, f"{words}; the rest is not read: take them out")
            return


def _game(case: _Case, reading: Reading) -> SourceGame | None:
    draft, moves = case.draft, case.moves
    _check_whole(case, reading)
    termination_tag = case.tag("Termination").lower()
    outcome = _outcome(case, reading)
    if outcome == _BOTH_FORFEITED and not case.problems:
        reading.skipped["both forfeited"] += 1
        return None
    if not case.problems and (outcome == "none" or termination_tag == "unterminated"):
        reading.skipped["unfinished"] += 1
        return None
    site, key = _key(case)
    variant = _variant(case)
    base, increment, speed = parse_time_control(case.tags.get("TimeControl", "").strip()[:128], site)
    if reading.by_fide:
        speed = _fide_class(case, site, reading)
    white, black = _player(case, "White", site), _player(case, "Black", site)
    started = _started(case, reading)
    termination = _termination(case, termination_tag, outcome, site, variant)
    flagged = outcome if termination == "time" else ""
    seconds = None if base is None else _played(case, base, increment, flagged, site)
    return SourceGame(
        draft.line,
        key,
        *white,
        *black,
        outcome=outcome,
        termination=termination,
        half_moves=_half_moves(case, site, termination),
        started_at=started,
        ended_at=_ended(case, started, seconds),
        tournament=_tournament(case, site),
        round=case.tag("Round")[:32].strip() or None,
        rated=_rated(case, site, reading),
        white_rating=_rating(case, "WhiteElo"),
        black_rating=_rating(case, "BlackElo"),
        speed=speed,
        variant=variant,
        text=moves.kept,
        is_made=key.startswith("pgn:"),
    )


def _fide_class(case: _Case, site: str, reading: Reading) -> str | None:
    """Return FIDE's class of the time control; None if there is none, or if it cannot be understood."""
    text = case.tags.get("TimeControl", "").strip()
    try:
        # Servers write seconds; other programs also write the minutes of an announcement.
        return fide_class(text, is_certain=bool(site))
    except ValueError as error:
        reading.note(case.draft.line, f"TimeControl {error}; got {text[:80]!r}: not used")
        return None


def _half_moves(case: _Case, site: str, termination: str) -> int | None:
    """Return the number of half-moves of the game: its moves are counted; without them, ``PlyCount`` is used."""
    if case.moves.moves:
        return len(case.moves.moves)
    ply_count, is_ours = case.tags.get("PlyCount", "").strip(), case.tag("Rated") != ""
    # Of a score that is lost programs write 0, and only ours mean it; of a game that was never played none is true.
    if _PLY_COUNT.fullmatch(ply_count) and int(ply_count) <= MAX_HALF_MOVES and (ply_count != "0" or is_ours):
        return None if termination == "unplayed" and ply_count != "0" else int(ply_count)
    # A server says "no moves" when none were played; elsewhere it means that the score is lost.
    return 0 if site and case.moves.results and not (is_ours and ply_count == "?") else None


def _check_whole(case: _Case, reading: Reading) -> None:
    """Note what makes the raw text of a game unfit to be read."""
    draft, moves = case.draft, case.moves
    if draft.open_at:
        case.problems.append((draft.open_at, "a comment opened by '{' is never closed: close it with '}'"))
    elif moves.trouble:
        offset, what = moves.trouble
        line = draft.moves_line + case.text.count("\n", 0, offset)
        case.problems.append((line, f"{what}; correct the movetext"))
    elif draft.final and not moves.results and (draft.moves_line or reading.is_cut or _ends_in_tags(case)):
        line = draft.line + len(draft.head) + len(draft.moves) - 1
        case.problems.append((line, "the file ends inside this game, before its result: fetch it again"))
    if len(moves.moves) > MAX_HALF_MOVES:
        case.problems.append((draft.line, f"{len(moves.moves)} half-moves, more than {MAX_HALF_MOVES}"))
    elif draft.size > MAX_TEXT // 2 and len(moves.kept or "") > MAX_TEXT:
        case.problems.append((draft.line, f"moves and clocks of more than {MAX_TEXT} characters, the limit of a text"))


def _ends_in_tags(case: _Case) -> bool:
    """Return whether a last game without movetext was cut: within a tag, or where a server writes moves."""
    cut = not case.draft.head[-1].endswith((b"\n", b"\r"))
    return cut or any(server in case.tags.get("Site", "") for server in ("lichess.org/", "freechess.org"))


def _outcome(case: _Case, reading: Reading) -> str:
    """Return the Result tag; without one, or with ``*``, the word after the moves. Contradictions are a fault."""
    tag, said = one_line(case.tags.get("Result", "")).replace(" ", ""), case.moves.results
    ends = {RESULTS[word] for word in said} - {"none"}
    tagged = RESULTS.get(tag)
    if tagged is None and tag not in {"", "?"}:
        tagged = _other_spelling(case, tag)
    elif tagged is None and not said and not case.problems:
        case.bad("Result", 'no result: add [Result "1-0"], "0-1", "1/2-1/2" or "*"')
    if len(ends) > 1 or (tagged not in {None, "none", _BOTH_FORFEITED} and ends and tagged not in ends):
        after = " and ".join(dict.fromkeys(said))
        case.bad("Result", f"Result {tag!r}, but {after} after the moves: make them agree")
    if tagged == "none" and ends and not case.problems:
        reading.note(case.draft.line, f"Result '*', but {said[-1]} after the moves: the moves are believed")
        tagged = None
    return tagged or next(iter(ends), "none")


def _other_spelling(case: _Case, tag: str) -> str | None:
    """Return the meaning of a Result tag in the words of tables; a lone number may be the score of either side."""
    try:
        meaning = values.parse_result(tag) if len(tag) <= MAX_RESULT and tag not in _LONE_NUMBERS else None
    except ValueError:
        meaning = None
    if meaning is None:
        case.bad("Result", f"Result {tag[:40]!r} is none of 1-0, 0-1, 1/2-1/2, *, a forfeit such as +/-")
    elif meaning == values.BOTH_FORFEITED:
        return _BOTH_FORFEITED
    elif meaning.startswith("+"):
        case.is_forfeit = not case.moves.moves  # one that was begun is rated (FIDE B.02, RULES 1.8)
    return None if meaning is None else "none" if meaning == values.UNFINISHED else meaning.removeprefix("+")


def _key(case: _Case) -> tuple[str, str]:
    """Return the server (``lichess``, ``fics``, ``chesscom`` or ``""``) and the game's own key."""
    # Without a server's id the ledger makes a key from ``pgn:`` and 24 hexadecimal digits of the SHA-256 over these
    # lines, each as one line of NFC text, joined by line feeds, in UTF-8: Event, Site, UTCDate or Date, UTCTime, Round,
    # White, Black, and the moves joined by blanks without ``+``, ``#`` and ``=``. Result and comments do not count, so
    # that a game whose result was corrected keeps its key.
    tags, site = case.tags, case.tags.get("Site", "")[:300]
    link = tags.get("Link", "")[:300] or site
    lichess = lichess_key(site)
    own = tags.get("GameId", "")
    if lichess:
        return "lichess", lichess
    # Other programs write a GameId, too: next to the address of another site it is none of Lichess.
    if _LICHESS_ID.fullmatch(own) and ("lichess.org" in site or site in {"", "?"}):
        return "lichess", f"lichess:{own[:8]}"
    number = tags.get("FICSGamesDBGameNo", "").strip()
    if _FICS_NUMBER.fullmatch(number):
        return "fics", f"fics:{number}"
    chesscom = chesscom_key(link)
    if chesscom:
        return "chesscom", chesscom
    moves = re.sub("[+#=]", "", " ".join(case.moves.moves))
    date = tags.get("UTCDate") or tags.get("Date", "")
    facts = (
        tags.get("Event", ""),
        site,
        date,
        tags.get("UTCTime", ""),
        tags.get("Round", ""),
        tags.get("White", ""),
        tags.get("Black", ""),
        moves,
    )
    server = "fics" if "freechess.org" in site else "chesscom" if "chess.com" in site.lower() else ""
    return server, plain_key("pgn", "\n".join(map(one_line, facts)))


def _player(case: _Case, colour: str, site: str) -> tuple[str, str]:
    """Return identity and display name: the server's user, else the FIDE id, else the name."""
    name = case.tag(colour)
    if not name or len(name) > MAX_NAME:
        what = f"has {len(name)} characters, more than {MAX_NAME}" if name else "is missing or '?'"
        case.bad(colour, f"the name of {colour} {what}: give one name")
        return "", ""
    if site == "lichess" and (user := lichess_player(name)):
        return user
    if site in {"fics", "chesscom"}:
        return f"{site}:{name.lower()}", name
    number = case.tag(f"{colour}FideId").lstrip("0")  # as ``spelt`` has it: one person has one spelling
    return (f"fide:{number}" if _FIDE_ID.fullmatch(number) else name_identity(name)), name


def _rating(case: _Case, name: str) -> int | None:
    value = case.tag(name)
    if not (value.isascii() and value.isdigit()) or not int(value[:9]):
        return None
    if int(value[:9]) > MAX_RATING:
        case.bad(name, f"{name} {value[:20]!r} is outside 0 to {MAX_RATING}: correct it or leave it out")
    return int(value[:9])


def _rated(case: _Case, site: str, reading: Reading) -> bool:
    """Return whether the game was rated: by our tag, by Event, in an arena of Lichess by the rating changes."""
    if (said := case.tag("Rated").lower()) in {"yes", "no"}:
        return said == "yes"
    # Of an arena Event is the name, be it "Casual Friday", and nothing else says it: Lichess writes WhiteRatingDiff of
    # a game that it rated.
    event = case.tag("Event")
    if site != "lichess" or not event:
        return not event.lower().startswith(("casual", "unrated", "fics unrated"))
    if says := _SAYS_RATED.fullmatch(event):
        return says[1].lower() == "rated"
    if case.tag("WhiteRatingDiff", "BlackRatingDiff"):
        return True
    said = f"Event {excerpt(event)} does not say whether it is rated, and there is no WhiteRatingDiff"
    reading.note(case.draft.line, f"{said}: it is taken as casual")
    return False


def _variant(case: _Case) -> str:
    """Return the variant as Lichess's key: ``From Position`` is ``fromPosition``; a FEN alone says the same."""
    tag = case.tags.get("Variant", "")
    if tag:
        named = _variant_key(tag)
        if named:
            return named
        if named is None:
            case.bad("Variant", f"Variant {excerpt(tag)} is no word such as Crazyhouse: correct it")
    fen = case.tag("FEN")
    # SetUp 0 says that the game began with the usual position (PGN 9.7.1), and some programs write that position as
    # FEN.
    if case.tag("SetUp") == "0" or fen.startswith(_START_FEN):
        return "standard"
    return "fromPosition" if fen or case.tag("SetUp") == "1" else "standard"


@lru_cache(maxsize=256)
def _variant_key(tag: str) -> str | None:
    """Return the key of a variant, ``""`` if the tag is blank, None if it is no word."""
    if tag.strip() in {"", "?", "-"}:
        return ""
    words = re.findall(r"[A-Za-z0-9]+", tag[:64])
    key = "".join(words[:1]).lower() + "".join(word.capitalize() for word in words[1:])
    key = _VARIANTS.get(key, key)
    return key if len(tag) <= 64 and VARIANT.fullmatch(key) else None


def _tournament(case: _Case, site: str) -> str | None:
    event = case.tag("Event")
    if site == "lichess" and (key := tournament_key(event)) != event:
        return key
    if site in _NO_EVENT and _NO_EVENT[site].fullmatch(event):
        return None
    return event[:MAX_EVENT].strip() or None


def _played(case: _Case, base: int, increment: int, outcome: str, site: str) -> float | None:
    """Return the seconds on both clocks together, or None if no clock is shown."""
    # Each side has used base + increment x its moves - its last clock, and never less than nothing (time can be given).
    # On Lichess a side's first move is free: its clock does not run and gets no increment, so one move less counts, and
    # a side without moves has used nothing. Who berserks starts with half the base and gets no increment.
    # *outcome* is who won a time forfeit, ``draw`` for a drawn one (the side to move has flagged), else ``""``.
    clocks = case.moves.clocks
    if not clocks:
        return None
    first_black, free = " b " in case.tag("FEN"), int(site == "lichess")
    used = 0.0
    for side, start in (("white", int(first_black)), ("black", int(not first_black))):
        own = clocks[start::2]
        flagged = start == len(clocks) % 2 if outcome == "draw" else outcome not in {"", side}
        if not (own or (flagged and not free)) or not (flagged or own[-1]):
            continue
        halved = free and own[0] and clock_seconds(own[0]) == base / 2
        full = base / 2 if halved else base + increment * (len(own) - free)
        used += max(0.0, full - (0.0 if flagged else clock_seconds(own[-1])))
    return used


def _at(case: _Case, date: str, times: tuple[str, ...]) -> str | None:
    """Return the instant of a date tag and the first of some time tags; a bad day is noted, a bad time dropped."""
    try:
        day = parse_pgn_date(case.tag(date)[:40])
    except ValueError as error:
        case.bad(date, f"{date}: {error}; correct it")
        return None
    clock = _TIME.fullmatch(case.tag(*times)) if day and len(day) == 10 else None
    if clock is None or int(clock[1]) > 23 or int(clock[2]) > 59 or int(clock[3] or 0) > 59:
        return day
    time = f"{int(clock[1]):02}:{clock[2]}:{clock[3] or '00'}"
    if clock[4] is None:
        return f"{day}T{time}Z"
    try:
        return to_utc(str(day), time, clock[4])
    except ValueError:
        return day


def _started(case: _Case, reading: Reading) -> str | None:
    """Return the start: UTCDate and UTCTime, else Date and Time or StartTime, taken as UTC; not EventDate."""
    before = len(case.problems)
    dated = case.tag("UTCDate")[:1] not in {"", "?"}
    local = ("UTCTime", "Time", "StartTime")
    times = local[:1] if dated else local
    started = _at(case, "UTCDate" if dated else "Date", times)
    time = case.tag(*times)
    if started is not None and len(started) == DAY_LENGTH and time.strip("?:. -"):
        # without its digits, so that games whose times differ have one note
        what = excerpt(time.lstrip("0123456789:. ") or time)
        advice = "write HH:MM:SS of UTC, or an offset such as +02:00"
        words = f"{what} in a time of the day is not understood, so the day alone counts: {advice}"
        reading.note(case.draft.line, words)
    if started is None and len(case.problems) == before:
        date = case.tags.get("Date", "")[:40]
        case.bad("Date", f'Date {date!r} names no year, so the game has no place in time: give "YYYY.MM.DD"')
    return started


def _ended(case: _Case, started: str | None, seconds: float | None) -> str:
    """Return the end: EndDate with EndTime (chess.com), else the start plus the time on the clocks, else the start."""
    if started is None:
        return ""
    if case.tag("EndDate"):
        end = _at(case, "EndDate", ("EndTime",))
        # Texts of one precision compare as instants do; a less precise end says less than the start and the clocks.
        if end and len(end) >= len(started) and end >= started:
            return end
    # A start known to the day alone has no moment to which the time on the clocks could be added.
    if seconds is None or len(started) < 20:
        return started
    try:
        moment = datetime.fromisoformat(started[:-1]) + timedelta(milliseconds=round(seconds * 1000))
    except OverflowError:  # after the year 9999
        return started
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds") + "Z"


def _termination(case: _Case, tag: str, outcome: str, site: str, variant: str) -> str:
    """Return how the game ended: by the tag, the last move, the server's closing comment; no guess beyond that."""
    # Mate is the winner's last move with ``#``, or with the old ``++`` if there is no Termination tag. Lichess's
    # "Normal" without mate is a resignation where a side won and the variant knows no other way to win.
    if case.is_forfeit:
        return "unplayed"
    if tag in _TERMINATIONS:
        return _TERMINATIONS[tag]
    moves = case.moves.moves
    if tag not in {"", "normal"}:  # chess.com: "NAME won by resignation"
        return _phrase(tag[:300], is_begun=bool(moves))
    if moves and (moves[-1].endswith("#") or (case.moves.double and not tag)):
        # A FEN with Black to move turns the sides of all moves round.
        mover_is_white = (len(moves) % 2 == 1) != (" b " in case.tag("FEN"))
        if outcome == ("white" if mover_is_white else "black"):
            return "checkmate"
    if site == "lichess" and tag == "normal" and outcome != "draw" and variant in _USUAL_RULES:
        return "resignation"
    # The comment is at the end; in the whole text the pattern would be tried from every brace.
    closing = _CLOSING.search(case.text[-200:])
    sentence = one_line(closing[1]) if closing else ""
    return _phrase(sentence, is_begun=bool(moves)) if _SERVER_SENTENCE.fullmatch(sentence) else "unknown"


def _phrase(sentence: str, *, is_begun: bool) -> str:
    last = None
    for match in _PHRASE.finditer(sentence):
        last = match.lastgroup
    if last is None and not is_begun and _NOT_PLAYED.search(sentence):
        return "unplayed"
    return last.replace("_", "-") if last else "unknown"
