"""The four token classes of a request: disjoint, and together what was sent and generated.

Rules that this module owns:

* uncached input + cache read + cache write = prompt tokens, as the engine counted them where it says so, else
  as many as ids were sent. Output stands apart.
* Unknown is never 0: an engine that does not say what it read from its cache leaves uncached input and cache
  read unknown. Writes are a class where a provider says them (and then bills them); elsewhere they are 0, and
  their tokens are uncached input.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.records import RequestRow, ResponseRow

CLASSES = ("input_uncached", "cache_read", "cache_write", "output")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens of one request by class; ``None``: unknown."""

    input_uncached: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None


def classes_of(request: RequestRow, response: ResponseRow) -> TokenCounts:
    """The classes of a request.

    Raises:
        ValueError: The engine counted more cached tokens than there were.
    """
    sent = request.n_prompt if response.n_prompt is None else response.n_prompt
    read, written = response.measured_cached, response.cache_write or 0
    uncached = None if read is None else sent - read - written
    if (uncached is not None and uncached < 0) or (read or 0) < 0 or written < 0:
        raise ValueError(
            f"request {request.request_id}: expected cached tokens in 0..{sent}, found {read} read, "
            f"{written} written"
        )
    return TokenCounts(
        input_uncached=uncached, cache_read=read, cache_write=written, output=response.n_output
    )
