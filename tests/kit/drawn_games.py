"""Games of few players on few days, drawn at random, so that many of them are alike; and what may happen to them."""

from random import Random

from ledger.facts.source_games import SourceGame
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from tests.kit.corrections import approve, ask
from tests.kit.games import source_game

NAMES = (
    ("name:ann", "Ann"),
    ("name:bob", "Bob"),
    ("fide:1", "Ann"),
    ("lichess:bob", "BOB"),
    ("fide:2", "Eva Ök"),
    ("club:9", "eva ÖK"),
    ("name:zed", "Zed"),
)
STRANGERS = (("name:new", "New"), ("fide:7", "Zed"), ("name:eva ök", "Eva ök"))
DAYS = ("2024", "2024-05", "2024-05-03", "2024-05-04", "2024-05-03T23:50:00Z", "2024-05-04T00:10:00Z", "2024-06-01")
TEXTS = ("1. e4 e5", "1. d4 d5", "1. c4 c5")


def drawn(random: Random, number: int) -> SourceGame:
    """A game of few players on few days, as one of many sources tells it."""
    white, black = random.sample([*NAMES, *NAMES, *STRANGERS], 2)
    made = f"{random.choice(('csv', 'pgn'))}:{random.randrange(40):024x}"
    key = random.choice((made, made, f"lichess:{random.randrange(30)}", f"club:{random.randrange(30)}", f"r{number}"))
    ended = random.choice(DAYS)
    began = random.choice((None, None, ended, "2024-05-03", "2024-05-03T23:40:00Z"))
    if began is not None and (len(began) > len(ended) or began > ended):
        began = None
    text = random.choice((None, None, *TEXTS))
    return source_game(
        key,
        line=number,
        white_id=white[0],
        white_name=white[1],
        black_id=black[0],
        black_name=black[1],
        termination="resignation",
        outcome=random.choice(("white", "draw", "black")),
        ended_at=ended,
        started_at=began,
        text=text,
        half_moves=random.choice((40, 40, 29)) if text else random.choice((None, 40)),
        tournament=random.choice((None, "Club", "Open")),
        round=random.choice((None, "1", "2.1", "?")),
    )


def happen(random: Random, ledger: Ledger, number: int) -> None:
    """One thing that may happen in a ledger."""
    match random.randrange(12):
        case 0:
            ledger.rename(random.randint(1, 4), random.choice(NAMES)[1])
        case 1:
            keys = [key.removeprefix("game:") for key in ledger.journal.keys("game:", "game;")]
            fields = random.choice(
                ({"black": 3}, {"white": 2}, {"ended_at": "2024-06-01"}, {"tournament": "Open"}, {"outcome": "draw"})
            )
            approve(ledger, ledger.corrections.drafts.replace(f"game:{random.choice(keys)}", fields))
        case 2:
            approve(ledger, ledger.corrections.drafts.merge(*random.sample(range(1, 6), 2)))
        case 3:
            approve(ledger, ask(ledger, "void", game=random.choice([*ledger.journal.keys("game:", "game;")])[5:]))
        case 4 | 5:
            ledger.catch_up()
        case _:
            games = [drawn(random, number * 10 + place) for place in range(random.randint(1, 5))]
            ledger.import_games(batch_games(games), record_alike=random.random() < 0.5)
