"""What stands where an engine would be to whom the policy lets nothing out: nothing is started or contacted.

Its requests come back as the policy's refusals, like all others that were not let out.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.engines.base import EngineInfo, EngineRequest, EngineResult, EngineSettingError


class UnaskedEngine:
    """To a runner an ``Engine`` like any other; behind a gate that lets something out it is a fault.

    Args:
        name: Of the engine that is not started.
        prefix_caching: As it would be built.
    """

    def __init__(self, name: str, *, prefix_caching: bool) -> None:
        self.info = EngineInfo(
            name=name,
            fake=False,
            block_size=None,
            prefix_caching=prefix_caching,
            block_rule=False,
            scheduling_known=False,
            streaming=False,
            start_us=0,
            profile={},
            cache_known=False,
            replayed=True,  # there is nothing to reset or to prime
        )

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        """Never.

        Raises:
            EngineSettingError: Always.
        """
        raise EngineSettingError(f"engine {self.info.name!r} was not started: the policy had let nothing out")

    def reset_prefix_cache(self) -> bool:
        """There is no cache."""
        return False

    def counters(self) -> dict[str, int]:
        """Nothing is counted."""
        return {}

    def close(self) -> None:
        """There is nothing to end."""
