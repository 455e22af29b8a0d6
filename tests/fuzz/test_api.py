"""The JSON API answers whatever is asked as its schema says, and never with a 5xx of our making."""

import schemathesis
from hypothesis import HealthCheck, settings

from tests.fuzz.strategies import EXAMPLES
from treasure.repository.store import Store
from treasure.web.app import make_app

TOKEN = "the-token-of-the-tests"
READING = max(5, EXAMPLES // 6)
"""A dozen operations share the examples."""


def application():
    app = make_app(Store.open("sqlite://"), token=TOKEN, hosts=["testserver", "127.0.0.1"])
    app.state.runs_dir = "/nonexistent"
    return app


schema = schemathesis.openapi.from_asgi("/api/openapi.json", application()).include(method="GET")


@schema.parametrize()
@settings(max_examples=READING, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_asked_is_answered(case):
    response = case.call(headers={"Host": "testserver", "Authorization": f"Bearer {TOKEN}"})
    assert response.status_code < 500 or response.status_code == 503, response.text[:500]
