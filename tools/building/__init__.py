"""How the package is built: setuptools' own way, with one thing added to a development install."""
