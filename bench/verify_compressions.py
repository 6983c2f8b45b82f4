"""Checks what lossy compressors answered against what the prompts of a run show.

Rules that this module owns:

* Every line of ``compressions.jsonl`` leads to a stored answer to the ask that it names.
* Every rewrite of a prompt is a text that its compressor answered, and every text that a build row says is
  sent stands in a rewrite of its prompt.
* The text of a rewrite holds, in order, what it says it keeps of its sources.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.compression_stage import stored_replies
from bench.records import BuildRow
from bench.stored_run import StoredRun
from capsules.codec import read_stored
from capsules.omission import Rewrite
from capsules.prompt import PromptCapsule
from capsules.rewriting import holds_kept
from capsules.unicode_tables import WHITE_SPACE


def compression_findings(run: StoredRun) -> Iterator[str]:
    """Every rewrite that no stored answer explains."""
    replies = stored_replies(run.folder, run.store)
    answered = {text.strip(WHITE_SPACE) for reply in replies.values() for text in reply.texts}
    for row in run.builds:
        if row.prompt_capsule is not None:
            prompt = read_stored(run.store.get(row.prompt_capsule).data, PromptCapsule)
            for rewrite in prompt.rewrites:
                yield from _rewrite_findings(run, row, rewrite, answered)
            yield from _row_findings(row, prompt)


def _rewrite_findings(run: StoredRun, row: BuildRow, rewrite: Rewrite, answered: set[str]) -> Iterator[str]:
    name = f"{row.prompt_capsule}: the rewrite of {rewrite.items[0]}"
    if rewrite.text not in answered:
        yield f"{name} is no stored answer of {rewrite.compressor}"
    exact = {}
    for item in rewrite.items:
        source, _, place = item.rpartition(":")
        start, _, end = place.partition("-")
        exact[item] = run.text(source)[int(start) : int(end)]
    if not holds_kept(rewrite, exact):
        yield f"{name} does not hold what it says it keeps"


def _row_findings(row: BuildRow, prompt: PromptCapsule) -> Iterator[str]:
    kept = set(row.stages[-1].items) if row.stages else set()
    said = {(t.items[0], t.text) for t in row.compressed if t.text is not None and kept >= {*t.items}}
    found = {(rewrite.items[0], rewrite.text) for rewrite in prompt.rewrites}
    if said != found:
        yield f"{row.prompt_capsule}: builds.jsonl says {len(said)} rewrites, the capsule holds {len(found)}"
