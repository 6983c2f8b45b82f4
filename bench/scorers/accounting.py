"""Scores of the built prompt alone: omission laws, silent omissions, prompt size."""

from __future__ import annotations

from bench.scorers.base import Case, Score, Scorer, ok, undefined


def _score(case: Case) -> tuple[Score, ...]:
    build = case.build
    if build.laws:
        broken = next((name for name, held in build.laws if not held), None)
        law = ok("omission_law", broken is None, None if broken is None else "omission.unaccounted")
    else:
        law = undefined("omission_law", "omission.no_record")
    return law, ok("silent_omissions", build.silent_omissions), ok("tokens_prompt", build.n_prompt)


ACCOUNTING = Scorer(
    basis="build", metrics=("omission_law", "silent_omissions", "tokens_prompt"), score=_score
)
