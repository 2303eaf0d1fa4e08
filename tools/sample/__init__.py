"""The sample club that a fresh clone imports: invented members, invented games, made by ``python -m tools.sample``."""
