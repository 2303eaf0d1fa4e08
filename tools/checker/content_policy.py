"""The content security policy of the checker's page, and the name of that page."""

from __future__ import annotations

INDEX = "index.html"


def content_policy(*, script: str, style: str, connect: str) -> str:
    """Return the content security policy of the page, which its worker inherits: nothing is sent to anybody."""
    return "; ".join([
        "default-src 'none'", f"script-src {script} blob: 'wasm-unsafe-eval'", f"style-src {style}",
        "img-src data:", f"connect-src {connect}", "worker-src blob:", "base-uri 'none'", "form-action 'none'",
    ])  # fmt: skip
