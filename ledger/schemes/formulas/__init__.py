"""Formulas and tables that several schemes share, or that people use without a scheme."""
