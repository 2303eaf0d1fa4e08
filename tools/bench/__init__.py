"""The benchmark: each figure of ours next to a named rival or bound, measured in the same run."""
