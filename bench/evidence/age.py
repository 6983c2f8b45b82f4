"""How old a source may be: its own expiry, else an age that the config allows.

Rules that this module owns: an expiry in the data always counts; ``max_age_days`` gives one to a source
that has an ``as_of`` and no expiry; a source with neither does not expire. Validity is half-open
(``expires_at <= now`` is expired), and a builder's now is the sample's ``as_of``: the clock of a run
judges when a capsule is validated.
"""

from __future__ import annotations

from bench.specs import FreshnessSpec
from capsules.timestamp import format_time, parse_time
from tasks.base import SourceDoc

_DAY = 86_400
_LAST = "9999-12-31T23:59:59Z"


def expiry(doc: SourceDoc, freshness: FreshnessSpec) -> str | None:
    """When a source stops being valid; ``None``: never.

    Raises:
        SchemaError: ``time.malformed``: its ``as_of`` is no time.
    """
    if doc.expires_at is not None or doc.as_of is None or freshness.max_age_days is None:
        return doc.expires_at
    end = parse_time(doc.as_of) + freshness.max_age_days * _DAY
    return format_time(min(end, parse_time(_LAST)))


def is_expired(doc: SourceDoc, freshness: FreshnessSpec, now: int) -> bool:
    """Whether a source is no longer valid at ``now`` (in seconds)."""
    end = expiry(doc, freshness)
    return end is not None and parse_time(end) <= now
