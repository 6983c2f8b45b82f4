"""Between a run and its engine: no ids reach an engine but those that the policy let out.

Rules that this module owns:

* ``AuthorizedEngine`` is the only engine that a runner gets. For every request it asks the policy about the
  prompt capsule that the ids come from, at the run's clock, and hands on only what was released. What is
  refused comes back as an error result that holds the code and nothing else.
* One gate is for one provider, who runs the engine behind it. To a remote engine (``engines.remote``) it
  gives permits, one for each attempt, each a decision about exactly the bytes of that attempt.
* Naive prompts have no capsule. They are sent under the exemption ``unlabelled``, to ``local`` alone; their
  rows have no ``prompt_capsule``, so a report can count them.
* What a driver sends besides planned requests (probes, stable prefixes, restored prompts) begins a planned
  prompt, or is one with what was answered to it, and goes out under the authority of such a prompt. Ids
  that belong to none are refused.
* The clock of a run is its ``now``, at which every validity is judged; see ``bench.pipeline``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from threading import Lock

from bench.engines.base import Engine, EngineRequest, EngineResult
from bench.engines.remote import RemoteEngine
from bench.engines.results import failed
from bench.planner import OPERATION, Plan, Planned
from bench.request_identity import ids_bytes
from bench.run_policy import local_policy
from capsules.content_id import content_id
from capsules.decision import LOCAL, Ask, Gate
from capsules.egress import Outgoing, authorize, exempt, release
from capsules.errors import CapsuleError
from capsules.policy import Policy
from capsules.store import Store
from capsules.timestamp import parse_time

UNPLANNED = "label.undetermined"
ELSEWHERE = "provider.route.unlisted"


class RunGate:
    """Decides on the requests of one run.

    Args:
        plan: What the run sends.
        store: Where its capsules are.
        now: The run's ``now``.
        rules: The policy; by default everything stays on this machine (``local_policy``).
        provider: Who runs the engine.

    Attributes:
        tally: How many planned requests were ``authorized``, ``unlabelled`` and ``refused``; a retry counts
            where it is refused.
    """

    def __init__(
        self, *, plan: Plan, store: Store, now: str, rules: Policy | None = None, provider: str = LOCAL
    ) -> None:
        seconds = parse_time(now)
        if rules is None:
            rules = local_policy(p.prompt.project for p in plan.requests)
        self._provider = provider
        self._lock = Lock()  # a wave of a remote engine asks from many threads
        self._gate = Gate(policy=rules, store=store, clock=lambda: seconds)
        self._planned = {p.request_id: p for p in plan.requests}
        self._by_salt: dict[str | None, list[Planned]] = {}
        for p in plan.requests:
            self._by_salt.setdefault(p.salt, []).append(p)
        self._all = plan.requests
        self.tally: Counter[str] = Counter()

    def line(self) -> str:
        """The tally, for people."""
        return ", ".join(f"{self.tally[key]} {key}" for key in ("authorized", "unlabelled", "refused"))

    def serves(self, planned: Iterable[Planned]) -> bool:
        """Whether the policy lets any of these out; nothing is sent or counted by asking."""
        return any(not isinstance(self._release(p, ids_bytes(p.prompt.ids), 1), str) for p in planned)

    def admit(self, request: EngineRequest) -> Outgoing | str:
        """The ids on their way out to an engine of this machine, or the code of the refusal."""
        return self._admit(request, ids_bytes(request.ids), 1)

    def permit(self, request: EngineRequest, body: bytes, attempt: int) -> Outgoing | str:
        """These bytes on their way out to the provider's endpoint, or the code of the refusal.

        Args:
            request: What they ask.
            body: Exactly what will be sent.
            attempt: From 1; a retry is another hop.
        """
        with self._lock:
            return self._admit(request, body, attempt)

    def _admit(self, request: EngineRequest, body: bytes, attempt: int) -> Outgoing | str:
        planned = self._planned.get(request.request_id)
        if planned is None:
            return self._admit_part(request, body, attempt)
        if planned.prompt.ids != request.ids:
            admitted: Outgoing | str = UNPLANNED
        else:
            admitted = self._release(planned, body, attempt)
        if isinstance(admitted, str):
            self.tally["refused"] += 1
        elif attempt == 1:
            self.tally["unlabelled" if planned.prepared.prompt_capsule is None else "authorized"] += 1
        return admitted

    def _admit_part(self, request: EngineRequest, body: bytes, attempt: int) -> Outgoing | str:
        """Under the first prompt that these ids belong to and that may be sent.

        Probes have a salt of their own, or none; they ask for any cell's prompts.
        """
        code = UNPLANNED
        cell_wide = None if request.salt is None else self._by_salt.get(request.salt)
        for planned in self._all if cell_wide is None else cell_wide:
            if _belongs(request.ids, planned.prompt.ids):
                admitted = self._release(planned, body, attempt)
                if not isinstance(admitted, str):
                    return admitted
                code = admitted
        return code

    def _release(self, planned: Planned, body: bytes, attempt: int) -> Outgoing | str:
        capsule = planned.prepared.prompt_capsule
        again = (self._provider,) if attempt > 1 else ()
        try:
            ask = Ask(
                capsule=capsule,
                body=content_id(body),
                provider=self._provider,
                operation=OPERATION,
                project=planned.prompt.project,
                level=None if capsule is None else planned.prompt.level,
                route=(*planned.route, *again),
            )
            decision = exempt(ask, self._gate) if capsule is None else authorize(ask, self._gate)
            outgoing = release(decision.require(), body, self._gate.clock)
        except CapsuleError as error:  # denied, or a label that is none
            return error.code
        return outgoing if (outgoing.endpoint is None) == (self._provider == LOCAL) else ELSEWHERE


class AuthorizedEngine:
    """An engine behind a gate; to a runner an ``Engine`` like any other.

    Args:
        engine: The started engine. Nobody else may hold it.
        gate: The run's gate.
    """

    def __init__(self, engine: Engine, gate: RunGate) -> None:
        self._engine = engine
        self._gate = gate
        self.info = engine.info

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        """Answers in order; refused requests were not sent.

        Raises:
            EngineError: As the engine.
        """
        if isinstance(self._engine, RemoteEngine):
            return self._engine.deliver(requests, self._gate.permit) if requests else []
        admitted = [self._gate.admit(request) for request in requests]
        wave = [
            (outgoing, request)
            for outgoing, request in zip(admitted, requests, strict=True)
            if isinstance(outgoing, Outgoing)
        ]
        answers = iter(self._send(wave))
        return [
            failed(request, outcome) if isinstance(outcome, str) else next(answers)
            for outcome, request in zip(admitted, requests, strict=True)
        ]

    def _send(self, wave: Sequence[tuple[Outgoing, EngineRequest]]) -> list[EngineResult]:
        """The transport: the only place where ids are handed to an engine."""
        return self._engine.generate([request for _, request in wave]) if wave else []

    def reset_prefix_cache(self) -> bool:
        """As the engine; nothing is sent by it."""
        return self._engine.reset_prefix_cache()

    def counters(self) -> dict[str, int]:
        """As the engine."""
        return self._engine.counters()

    def close(self) -> None:
        """As the engine."""
        self._engine.close()


def _belongs(ids: Sequence[int], prompt_ids: Sequence[int]) -> bool:
    """Whether ids begin a prompt, or begin with the whole of it."""
    n = min(len(ids), len(prompt_ids))
    return n > 0 and tuple(ids[:n]) == tuple(prompt_ids[:n])
