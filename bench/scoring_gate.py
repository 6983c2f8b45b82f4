"""Between a compressor and the engine that scores its texts: no ids reach it but those let out.

Rules that this module owns:

* Texts are scored before there is a capsule of them: they go under the exemption ``unlabelled``, to
  ``local`` alone (``bench.egress``), and only texts of a project that the run's policy lists.
* Every prompt is released by itself; one refusal and none of a call is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.egress import ELSEWHERE
from bench.engines.scoring import ScoringEngine
from bench.planner import OPERATION
from bench.request_identity import ids_bytes
from bench.run_policy import local_policy
from capsules.content_id import content_id
from capsules.decision import LOCAL, Ask, Gate
from capsules.egress import exempt, release
from capsules.errors import CapsuleError
from capsules.store import Store
from capsules.timestamp import parse_time


class AuthorizedScorer:
    """A scoring engine behind the policy.

    Args:
        engine: The started engine. Nobody else may hold it.
        projects: The projects of the run.
        store: Where its capsules are.
        now: The run's ``now``.
    """

    def __init__(self, engine: ScoringEngine, *, projects: Iterable[str], store: Store, now: str) -> None:
        seconds = parse_time(now)
        self._engine = engine
        self._gate = Gate(policy=local_policy(projects), store=store, clock=lambda: seconds)

    def score(self, project: str, prompts: Sequence[tuple[int, ...]]) -> list[list[float | None]]:
        """The engine's log-probabilities of texts of a project.

        Raises:
            CapsuleError: A prompt may not be sent; none was.
            EngineError: As the engine.
        """
        for ids in prompts:
            body = ids_bytes(ids)
            ask = Ask(
                capsule=None,
                body=content_id(body),
                provider=LOCAL,
                operation=OPERATION,
                project=project,
            )
            outgoing = release(exempt(ask, self._gate).require(), body, self._gate.clock)
            if outgoing.endpoint is not None:
                raise CapsuleError(ELSEWHERE, "expected a provider on this machine, found an endpoint")
        return self._engine.prompt_logprobs(prompts)

    def close(self) -> None:
        """As the engine."""
        self._engine.close()
