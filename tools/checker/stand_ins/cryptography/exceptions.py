"""The error of a false signature."""


class InvalidSignature(Exception):  # noqa: N818  # its name in the library
    """A signature that the key did not make."""
