"""Each file here derives something from rated games, by the class that keeps it (``ledger.ratings.projector``).

``history`` puts several together, for they stand in one row of one table.
"""
