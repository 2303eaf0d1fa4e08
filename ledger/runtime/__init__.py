"""The means of running, without chess: SQLite, columns, compiled kernels, arithmetic, lazy imports, progress."""
