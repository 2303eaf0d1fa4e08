"""The benchmark: each figure of ours beside a named rival or bound, measured in the same run."""
