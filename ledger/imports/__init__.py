"""Readers of other people's files: bytes in, games as their source names them out. No journal, no player numbers."""
