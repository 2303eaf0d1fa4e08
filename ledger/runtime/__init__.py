"""How it runs, and nothing of chess: SQLite, columns, compiled kernels, arithmetic, lazy imports, progress."""
