"""The policy of a run: the profiles of its providers.

``local`` may have every level and has no fallbacks, unless the config gives it a profile of its own. A run
without providers has the policy that everything stays on this machine, and only there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.planner import OPERATION
from bench.specs import ProviderSpec
from capsules import evidence, policy, prompt
from capsules.decision import LOCAL
from capsules.policy import Policy, ProviderProfile
from capsules.rules import LEVELS
from capsules.runtime import RUNTIME


def local_policy(projects: Iterable[str]) -> Policy:
    """The policy of a run that names no providers."""
    return policy_of((), projects)


def policy_of(providers: Sequence[ProviderSpec], projects: Iterable[str]) -> Policy:
    """The policy of a run with these providers, over the projects of its samples."""
    names = tuple(sorted(set(projects)))
    profiles = [
        ProviderProfile(
            id=p.provider_id,
            endpoint=p.endpoint,
            max_level=p.max_level,
            projects=p.projects,
            operations=p.operations,
            fallbacks=p.fallbacks,
        )
        for p in providers
    ]
    if not any(profile.id == LOCAL for profile in profiles):
        profiles.append(local_profile(names))
    return Policy(
        schema_id=policy.SCHEMA_ID,
        projects=names,
        providers=tuple(profiles),
        revoked=(),
        supported_schemas=(evidence.SCHEMA_ID, prompt.SCHEMA_ID),
        runtime=RUNTIME,
    )


def local_profile(projects: tuple[str, ...]) -> ProviderProfile:
    """This machine: every level, and no way on."""
    return ProviderProfile(
        id=LOCAL,
        endpoint=None,
        max_level=LEVELS[-1],
        projects=projects,
        operations=(OPERATION,),
        fallbacks=(),
    )
