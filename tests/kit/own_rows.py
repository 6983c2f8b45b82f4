"""A good row of own data, and how a test changes it."""

from __future__ import annotations

from typing import Any

TEXT = "The lamp stands 41\u00a0m high. It was lit in 1891."


def row(**changes: Any) -> dict[str, Any]:
    good = {
        "id": "r1",
        "question": "How high?",
        "sources": [{"id": "guide", "text": TEXT}],
        "answers": ["41\u00a0m"],
        "spans": [{"source": "guide", "start": 0, "end": 26}],
    }
    return {**good, **changes}
