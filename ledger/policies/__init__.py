"""The rules that a ledger gives itself: setting them, and asking what holds."""
