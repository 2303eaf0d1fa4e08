"""The commands: thin, each parses its words, makes one call on the library, prints, and gives an exit code."""
