"""Pairs of texts that a task labels as contradicting or not, for scoring detectors.

Rules that this module owns. Labels come from gold and from the data's own labels; a detector never sees
them.

* ``fever_symmetric``, *claim and evidence*: a claim with the evidence that refutes it contradicts, with
  the one that supports it does not (annotators' labels). *evidence and evidence*: the two evidence
  sentences of a claim contradict (one supports it, one refutes it); the supporting sentences of two
  neighbouring claims do not. The latter are of other things, so they are easy negatives.
* ``ramdocs``, *documents*: a right document and a document with misinformation contradict; two right
  documents do not, whether they give the same answer or are right about two things of one name (*other
  answer*). Documents without a place of their answer, noise, and pairs of misinformation have no label
  and are left out.
* Any other task, *documents*: the documents of a labelled contradiction contradict, all other pairs of
  documents of the sample do not (as far as its data says). A pair of the same two texts counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from tasks.base import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Two texts, and whether they contradict.

    Attributes:
        cluster: The sample that the pair is of.
        group: Which set of pairs it belongs to.
        stratum: A part of the set that is counted apart too, or "".
    """

    cluster: str
    group: str
    left: str
    right: str
    contradicts: bool
    stratum: str = ""


def labelled_pairs(task: str, samples: Sequence[Sample]) -> list[LabelledPair]:
    """The pairs of a task, in the order of its samples."""
    if task == "fever_symmetric":
        return [*_claims(samples), *_distinct(_evidence(samples))]
    if task == "ramdocs":
        return _distinct(_right_and_wrong(samples))
    return _distinct(_documents(samples))


def _claims(samples: Sequence[Sample]) -> Iterable[LabelledPair]:
    for sample in samples:
        for supports, refutes in _sides(sample):
            for text, contradicts in ((supports, False), (refutes, True)):
                yield LabelledPair(
                    cluster=sample.input.sample_id,
                    group="claim and evidence",
                    left=sample.input.question,
                    right=text,
                    contradicts=contradicts,
                )


def _evidence(samples: Sequence[Sample]) -> Iterable[LabelledPair]:
    sides = [(sample.input.sample_id, *pair) for sample in samples for pair in _sides(sample)]
    group = "evidence and evidence"
    for cluster, supports, refutes in sides:
        yield LabelledPair(cluster=cluster, group=group, left=supports, right=refutes, contradicts=True)
    for (cluster, one, other), (_, *neighbours) in pairwise(sides):
        if not {one, other} & set(neighbours):
            yield LabelledPair(cluster=cluster, group=group, left=one, right=neighbours[0], contradicts=False)


def _sides(sample: Sample) -> Iterable[tuple[str, str]]:
    texts = {doc.doc_id: doc.text for doc in sample.input.sources}
    return [(texts[pair.left.doc_id], texts[pair.right.doc_id]) for pair in sample.input.contradictions]


def _right_and_wrong(samples: Sequence[Sample]) -> Iterable[LabelledPair]:
    for sample in samples:
        texts = {doc.doc_id: doc.text for doc in sample.input.sources}
        answers = {span.doc_id: texts[span.doc_id][span.start : span.end] for span in sample.gold.spans}
        wrong = dict.fromkeys(pair.right.doc_id for pair in sample.input.contradictions)
        for one, other in combinations(answers, 2):
            same = answers[one].casefold() == answers[other].casefold()
            yield LabelledPair(
                cluster=sample.input.sample_id,
                group="documents",
                left=texts[one],
                right=texts[other],
                contradicts=False,
                stratum="same answer" if same else "other answer",
            )
        for one in answers:
            for other in wrong:
                yield LabelledPair(
                    cluster=sample.input.sample_id,
                    group="documents",
                    left=texts[one],
                    right=texts[other],
                    contradicts=True,
                )


def _documents(samples: Sequence[Sample]) -> Iterable[LabelledPair]:
    for sample in samples:
        kinds = {
            frozenset((pair.left.doc_id, pair.right.doc_id)): pair.kind
            for pair in sample.input.contradictions
        }
        for one, other in combinations(sample.input.sources, 2):
            kind = kinds.get(frozenset((one.doc_id, other.doc_id)))
            yield LabelledPair(
                cluster=sample.input.sample_id,
                group="documents",
                left=one.text,
                right=other.text,
                contradicts=kind is not None,
                stratum=f"labelled {kind}" if kind else "",
            )


def _distinct(pairs: Iterable[LabelledPair]) -> list[LabelledPair]:
    """Each two texts once; a pair that some sample labels as contradicting does contradict."""
    known: dict[frozenset[str], LabelledPair] = {}
    for pair in pairs:
        key = frozenset((pair.left, pair.right))
        if len(key) == 2 and (key not in known or (pair.contradicts and not known[key].contradicts)):
            known[key] = pair
    return list(known.values())
