"""The tests of a journal on a server of PostgreSQL."""

TIER = "outside"
