"""Tokens, roles and sessions: who may act, and the log of what was refused."""
