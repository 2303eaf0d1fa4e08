"""The benchmark's own arithmetic is tested quickly; a run of a section is slow, whole runs and rivals are nightly."""

TIER = "quick"
