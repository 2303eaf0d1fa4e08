"""The published JSON Schemas of every event kind, under ``events``. No code."""
