"""Proof: the auditor, its reader that shares no code with the writers, everything derived once more and compared."""
