"""Whole-history rating: its contract, and the fit against a solver of its own."""

from ledger.schemes.scheme import Scheme
from ledger.schemes.whole_history import SCHEME
from ledger.testing.scheme_contract import SchemeContract


class TestWholeHistory(SchemeContract):
    settings = ({}, {"w2": 40, "sweeps": 1, "initial_rd": 150, "listed_rd": 60})
    batches = (1, 300, 90, 500, 2, 200)

    def make(self) -> Scheme:
        return SCHEME
