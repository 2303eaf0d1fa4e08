"""Requests that are drawn from our OpenAPI document: how many, and what holds of every answer."""

from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import load_all_checks

from tools.serve import openapi

EXAMPLES = 12  # of each address and each way of drawing
CHECKED = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
)  # fmt: skip
DRAWN = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
SCHEMA = schemathesis.openapi.from_dict(openapi.document())


def checks(*more: str) -> list[Any]:
    """What holds of every answer, and what else is named."""
    load_all_checks()
    return schemathesis.checks.CHECKS.get_by_names((*CHECKED, *more))
