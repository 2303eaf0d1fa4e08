"""Heavy packages, each imported when one of its attributes is first read.

NumPy, Numba, Polars and sqlite-utils cost from 0.1 to 0.3 s to import (sqlite-utils pulls in pandas where that
is installed), matplotlib, which is optional, more; psycopg, which is optional too, 0.1 s; cattrs, cryptography, file
locks, bars of progress, tables, TOML and worker threads from 0.005 to 0.02 s each, difflib, which is asked about
mistyped names alone, 0.01 s. python-calamine is optional.
What serves a ledger on a server costs 0.01 s and serves no ledger in files.
Commands that touch a few rows never need them, so every other module writes
``from ledger.runtime.lazy import np, pl`` and pays only when an attribute is read. Nothing else lives here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any


class Lazy:
    """A module that is imported when one of its attributes is first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        # What was read once is found without ``__getattr__`` from then on.
        setattr(self, attribute, value)
        return value


if TYPE_CHECKING:
    import ctypes
    import difflib
    import tomllib
    from concurrent import futures

    import adbc_driver_manager as adbc_manager
    import adbc_driver_sqlite as adbc_sqlite
    import cattrs
    import filelock
    import matplotlib as mpl
    import numba as nb
    import numpy as np
    import polars as pl
    import psycopg
    import python_calamine as calamine
    import resvg_py as resvg
    import sqlite_utils
    import tabulate
    import tqdm
    import zstandard
    from cattrs import gen as cattrs_gen
    from cryptography import exceptions as cryptography_exceptions
    from cryptography.hazmat.primitives.asymmetric import ed25519
    from matplotlib import figure as mpl_figure
    from polars.io import plugins as pl_plugins
    from psycopg import conninfo as psycopg_conninfo
else:
    adbc_manager = Lazy("adbc_driver_manager")
    adbc_sqlite = Lazy("adbc_driver_sqlite")
    calamine = Lazy("python_calamine")
    cattrs = Lazy("cattrs")
    ctypes = Lazy("ctypes")
    cattrs_gen = Lazy("cattrs.gen")
    cryptography_exceptions = Lazy("cryptography.exceptions")
    difflib = Lazy("difflib")
    ed25519 = Lazy("cryptography.hazmat.primitives.asymmetric.ed25519")
    filelock = Lazy("filelock")
    futures = Lazy("concurrent.futures")
    mpl = Lazy("matplotlib")
    mpl_figure = Lazy("matplotlib.figure")
    nb = Lazy("numba")
    np = Lazy("numpy")
    pl = Lazy("polars")
    pl_plugins = Lazy("polars.io.plugins")
    psycopg = Lazy("psycopg")
    psycopg_conninfo = Lazy("psycopg.conninfo")
    resvg = Lazy("resvg_py")
    sqlite_utils = Lazy("sqlite_utils")
    tabulate = Lazy("tabulate")
    tomllib = Lazy("tomllib")
    tqdm = Lazy("tqdm")
    zstandard = Lazy("zstandard")

__all__ = [
    "Lazy", "adbc_manager", "adbc_sqlite", "calamine", "cattrs", "cattrs_gen", "cryptography_exceptions", "ctypes",
    "difflib", "ed25519", "filelock", "futures", "mpl", "mpl_figure", "nb", "np", "pl", "pl_plugins", "psycopg",
    "psycopg_conninfo", "resvg", "sqlite_utils", "tabulate", "tomllib", "tqdm", "zstandard",
]  # fmt: skip
