"""FIDE's tables and regulations as plain functions, for the schemes and performance ratings that use them."""
