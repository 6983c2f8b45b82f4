"""What the tests of evidence ask of documents that say how long the ferry takes (fixture ``crossing``)."""

from __future__ import annotations

from bench.specs import ClaimsSpec, ContradictionsSpec, MissingSpec

OLD, MID, NEW = "2001-01-01T00:00:00Z", "2011-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
GONE = "2020-01-01T00:00:00Z"
ASK = "How many minutes does the ferry Alma need?"
NEWEST = ContradictionsSpec(policy="newest_wins", detector="rule")
RECORD = MissingSpec(record=True)
RULE = ClaimsSpec(method="rule")
