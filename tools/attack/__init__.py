"""Attacks from outside, for longer runs than the test suite makes."""
