"""Capsules to compare: those of a small run, as JSON values."""

from __future__ import annotations

from typing import Any

import pytest

from bench.pipeline import Outcome
from bench.stored_run import StoredRun
from capsules.codec import read_stored, to_value
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule


class Capsules(list[tuple[dict[str, Any], list[dict[str, Any]]]]):
    """A list whose repr is short, for the reports of property tests."""

    def __repr__(self) -> str:
        return f"<{len(self)} prompts with their evidence>"


@pytest.fixture(scope="session")
def capsules(finished: Outcome) -> Capsules:
    """(prompt, its evidence) of every prompt of the run."""
    run = StoredRun(finished.folder)
    found = Capsules()
    for row in run.builds:
        if row.prompt_capsule is not None:
            prompt = read_stored(run.store.get(row.prompt_capsule).data, PromptCapsule)
            evidence = [
                to_value(read_stored(run.store.get(ref.id).data, EvidenceCapsule))
                for ref in prompt.evidence_capsule_refs
            ]
            found.append((to_value(prompt), evidence))
    return found
