"""Rows to what people ask: players, rankings, rating lists, explanations, predictions, comparisons.."""
