"""The built-in projectors, each a class that derives something from rated games (``ledger.ratings.projector``).

``history`` puts several together, which share one row of one table.
"""
