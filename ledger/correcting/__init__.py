"""Corrections of a ledger: what writes a proposal, what reads one from words or a file, what records and decides it."""
