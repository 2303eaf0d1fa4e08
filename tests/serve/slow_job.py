"""Stands in for the process of a job: tells that it has begun and how far it is, and goes on until it is ended."""

import sys
import time
from pathlib import Path

if __name__ == "__main__":
    place, command, output, *_ = sys.argv[1:]
    Path(output.removeprefix("--output=")).touch()
    Path(place).write_text('{"doing": "games", "done": 1, "total": 2}'.ljust(512))
    sys.stderr.write("slowly\n")
    sys.stderr.flush()
    time.sleep(0 if command == "quick" else 600)
