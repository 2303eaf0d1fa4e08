"""Which function answers which published example: the tables of the modules beside this one, joined."""

from tests.vectors import chessworld, ecf, elo, fide, glicko, perf, playchess, savard, uschess
from tests.vectors.comparing import Functions

MODULES = (chessworld, ecf, elo, fide, glicko, perf, playchess, savard, uschess)


def joined() -> Functions:
    """All of ``FUNCTIONS``.

    Raises:
        ValueError: two modules answer for the same function.
    """
    found: dict[tuple[str, str], str] = {}
    for module in MODULES:
        for key in module.FUNCTIONS:
            if key in found:
                raise ValueError(f"{'.'.join(key)} is answered by {found[key]} and by {module.__name__}")
            found[key] = module.__name__
    return {key: function for module in MODULES for key, function in module.FUNCTIONS.items()}
