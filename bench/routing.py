"""Which provider gets which sample: what the policy decides for the arms whose provider is ``policy``.

Rules that this module owns:

* The first provider of the config is asked first; when the policy refuses, its fallbacks are asked in
  their order, then theirs. Nobody else: a sample that none of them may have is not sent.
* Every hop is a decision of the core, about the prompt's capsule and the ids that it came to, with the
  providers that were asked before as its route. What is asked, and what each refusal said, is kept.
* A route is a plan, no permission: each request is decided anew when it is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bench.groups import BY_POLICY
from bench.planner import OPERATION, Prepared
from bench.records import RouteHop, RouteRow
from bench.request_identity import ids_bytes
from bench.run_policy import policy_of
from bench.specs import RunSpec
from capsules.content_id import content_id
from capsules.decision import Ask, Gate
from capsules.egress import authorize, exempt
from capsules.store import Store
from capsules.timestamp import parse_time


def route_all(spec: RunSpec, prepared: Sequence[Prepared], store: Store, now: str) -> tuple[RouteRow, ...]:
    """A route for every prompt of an arm whose provider is ``policy``.

    Args:
        spec: The run.
        prepared: Every (sample, arm).
        store: Holds the capsules.
        now: Validity is judged at this time.
    """
    arms = {arm.arm_id for arm in spec.arms if arm.provider == BY_POLICY}
    chosen = [item for item in prepared if item.arm_id in arms and item.built is not None]
    if not chosen:
        return ()
    seconds = parse_time(now)
    rules = policy_of(spec.providers, (item.built.project for item in chosen if item.built is not None))
    gate = Gate(policy=rules, store=store, clock=lambda: seconds)
    return tuple(_route(item, gate, spec.providers[0].provider_id) for item in chosen)


def _route(item: Prepared, gate: Gate, first: str) -> RouteRow:
    built = item.built
    if built is None:
        raise ValueError(f"{item.sample_id}/{item.arm_id}: no prompt to route")
    body = content_id(ids_bytes(built.ids))
    hops: list[RouteHop] = []
    queue = [first]
    while queue:
        provider = queue.pop(0)
        ask = Ask(
            capsule=item.prompt_capsule,
            body=body,
            provider=provider,
            operation=OPERATION,
            project=built.project,
            level=None if item.prompt_capsule is None else built.level,
            route=tuple(hop.provider for hop in hops),
        )
        decision = exempt(ask, gate) if item.prompt_capsule is None else authorize(ask, gate)
        hops.append(RouteHop(provider=provider, decision=decision.id, codes=decision.record.refusals))
        if decision.request is not None:
            return RouteRow(sample_id=item.sample_id, arm_id=item.arm_id, provider=provider, hops=tuple(hops))
        profile = gate.policy.provider(provider)
        asked = {hop.provider for hop in hops} | set(queue)
        queue += [name for name in (profile.fallbacks if profile else ()) if name not in asked]
    return RouteRow(sample_id=item.sample_id, arm_id=item.arm_id, provider=None, hops=tuple(hops))


def by_sample(routes: Iterable[RouteRow]) -> Mapping[tuple[str, str], RouteRow]:
    """Routes by (sample, arm)."""
    return {(route.sample_id, route.arm_id): route for route in routes}
