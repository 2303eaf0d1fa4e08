"""A package that a browser does not have; see ``ed25519``."""
