"""Formulas and tables that several schemes, or people by hand, need."""
