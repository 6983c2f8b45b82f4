"""Claims with labelled evidence: what a source says for or against a statement.

``citation_integrity``: citing sentences of papers and the abstract that each cites, with the sentences
that human judges found to support or refute it (https://github.com/ScienceNLP-Lab/Citation-Integrity,
MIT; text from PubMed Central). The abstract stands among its nearest neighbours, or (``as_corpus``)
among all abstracts of the file ``corpus``; the answer is the label, the gold spans are the judged
sentences; a claim without label is a sample without gold.

``fever_symmetric``: claims with two evidence sentences, one for and one against
(https://github.com/TalSchuster/FeverSymmetric, CC BY-SA 3.0). Rows of one claim become one sample:
every sentence is a source and a gold span, the labels are the answers, and the two sides are a
labelled contradiction. Penn Treebank escapes (``-LRB-``) are text like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tasks.base import (
    Gold,
    LabelledContradiction,
    RefusedRow,
    Sample,
    SampleInput,
    TaskData,
    TaskError,
    TaskSpec,
    TextRange,
)
from tasks.fields import RowRefused, checked_text, field, of_kind, text_field, whole_row
from tasks.finish import only_options, option
from tasks.judging import judge_all
from tasks.listed import Made, load_listed
from tasks.neighbours import AMONG, Naming
from tasks.passages import CorpusRow, joined, sentence_range, source
from tasks.rows import Home, RawRow
from tasks.sources import FROM, open_home
from tasks.squad import Judged, SquadRow
from tasks.squad_files import neighbour_data
from tasks.strict_json import Fault

CLAIMS, CORPUS = Home(file="citation-integrity/claims_dev.jsonl"), "citation-integrity/corpus.jsonl"
FEVER = Home(file="fever-symmetric/fever_symmetric_full.jsonl")
CITATIONS = "citation-integrity"
LABELS = ("SUPPORTS", "REFUTES")


def citation_integrity(spec: TaskSpec) -> TaskData:
    """Load Citation Integrity: its dev split, or the claims that ``file`` names.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *FROM, *AMONG, "corpus")
    abstracts, corpus = _abstracts(spec)
    claims = open_home(spec, CLAIMS)
    found = replace(claims, revision=lambda: f"{claims.revision()}, {corpus}")
    verdicts = judge_all(
        found.rows, lambda raw: claim_row(whole_row(raw.value), abstracts), lambda row: row.row_id
    )
    rows = tuple(row for _, _, row in verdicts.kept)
    exact = sum(len(row.ranges) for row in rows)
    judged = Judged(rows=rows, refused=verdicts.all_refused(), read=verdicts.read, exact=exact, repaired={})
    more: list[CorpusRow] = []
    if option(spec, "as_corpus", False):
        more, refused = corpus_rows(abstracts, spec)
        judged = replace(judged, refused=(*judged.refused, *refused), read=judged.read + len(refused))
    return neighbour_data(spec, found, judged, Naming(dataset=CITATIONS, license="MIT"), more)


def corpus_rows(
    abstracts: dict[int, list[object]], spec: TaskSpec
) -> tuple[list[CorpusRow], list[RefusedRow]]:
    """The abstracts of the corpus file as documents, in file order, and those that cannot be one."""
    rows: list[CorpusRow] = []
    refused: list[RefusedRow] = []
    for number, sentences in abstracts.items():
        try:
            text, _ = abstract_text(sentences)
        except RowRefused as error:
            refused.append(error.as_row(f"corpus document {number}"))
            continue
        doc = source(
            spec, f"{CITATIONS}-doc-{number}", text, dataset=CITATIONS, row=str(number), license="MIT"
        )
        rows.append(CorpusRow(doc=doc, value={"doc_id": number, "abstract": sentences}))
    return rows, refused


def abstract_text(abstract: list[object]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text of an abstract and where each of its sentences stands.

    Raises:
        RowRefused: It is no list of sentences, or no text that can be a source.
    """
    sentences = [of_kind(one, str, "/abstract") for one in abstract]
    # The sentences carry no spaces of their own.
    text, places = joined([sentence + " " for sentence in sentences[:-1]] + sentences[-1:])
    return checked_text(text, "/abstract"), places


def _abstracts(spec: TaskSpec) -> tuple[dict[int, list[object]], str]:
    """The abstracts by id, and which bytes they are; a bad one is an error, for it is no claim's fault."""
    named = {**spec.options, "file": option(spec, "corpus", CORPUS), "hub_files": option(spec, "corpus", "")}
    found = open_home(replace(spec, options=named), Home(file=CORPUS))
    abstracts: dict[int, list[object]] = {}
    for raw in found.rows:
        try:
            row = whole_row(raw.value)
            abstracts[field(row, "doc_id", int)] = field(row, "abstract", list)
        except RowRefused as error:
            raise TaskError(f"{named['file']}: {raw.where}{error.where}: {error.code}: {error}") from error
    return abstracts, found.revision()


def claim_row(row: dict[str, object], abstracts: dict[int, list[object]]) -> SquadRow:
    """Read one claim with the abstract that it cites.

    Raises:
        RowRefused: It cannot become a sample.
    """
    row_id, claim = field(row, "id", int), text_field(row, "claim")
    cited = [of_kind(one, int, "/cited_doc_ids") for one in field(row, "cited_doc_ids", list)]
    if len(cited) != 1 or cited[0] not in abstracts:
        raise RowRefused(
            "gold.source.missing", "/cited_doc_ids", f"expected one known document, found {cited[:3]}"
        )
    text, places = abstract_text(abstracts[cited[0]])
    evidence: dict[str, object] = field(row, "evidence", dict)
    labels: list[str] = []
    ranges: list[tuple[int, int]] = []
    for judged in evidence.values():
        for value in of_kind(judged, list, "/evidence"):
            one: dict[str, object] = of_kind(value, dict, "/evidence")
            labels.append(field(one, "label", str, "/evidence"))
            for number in field(one, "sentences", list, "/evidence"):
                span = sentence_range("abstract", places, of_kind(number, int, "/evidence"), "/evidence")
                ranges.append((span.start, span.end))
    return SquadRow(
        row_id=str(row_id),
        title=None,
        context=text,
        question=claim,
        answers=tuple((label, 0) for label in dict.fromkeys(labels)),
        ranges=tuple(ranges),
        value={
            "id": row_id,
            "claim": claim,
            "cited_doc_id": cited[0],
            "abstract": abstracts[cited[0]],
            "evidence": evidence,
        },
    )


def fever_symmetric(spec: TaskSpec) -> TaskData:
    """Load the symmetric FEVER test set.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *FROM)
    found = open_home(spec, FEVER)
    by_claim = replace(found, rows=same_claims(found.rows))
    # An answer is a label and stands in no text, so no row can be an example.
    return load_listed(
        spec, by_claim, fever_row, dataset="fever-symmetric", license="CC-BY-SA-3.0", example_chars=0
    )


def same_claims(raw_rows: Iterable[RawRow]) -> tuple[RawRow, ...]:
    """Gather the rows of one claim, in order of its first row; other rows stay alone.

    A fault in one of them costs the claim; a row with the id of an earlier one costs itself.
    """
    gathered: dict[str, list[object]] = {}
    wheres: dict[str, str] = {}
    seen: set[str] = set()
    for raw in raw_rows:
        row: dict[str, object] = raw.value if isinstance(raw.value, dict) else {}
        claim, row_id = row.get("claim"), row.get("id")
        again = isinstance(row_id, str) and row_id in seen
        seen.update([row_id] if isinstance(row_id, str) else [])
        key = claim if isinstance(claim, str) and not again else raw.where
        twice = Fault(code="row.id.duplicate", reason=f"the id {row_id!r} again; the first row stays")
        gathered.setdefault(key, []).append(twice if again else raw.value)
        wheres[key] = f"{wheres[key]}, {raw.where}" if key in wheres else raw.where
    return tuple(RawRow(where=wheres[key], value={"rows": rows}) for key, rows in gathered.items())


def fever_row(row: dict[str, object], spec: TaskSpec, where: str) -> Made:
    """Make a sample of all rows of one claim.

    Raises:
        RowRefused: One of them is not of the form.
    """
    rows: list[dict[str, object]] = [
        of_kind(one, dict, f"/rows/{n}") for n, one in enumerate(field(row, "rows", list))
    ]
    docs, spans, labels = [], [], []
    for number, one in enumerate(rows):
        at = f"/rows/{number}"
        label, text = field(one, "label", str, at), text_field(one, "evidence_sentence", at)
        if label not in LABELS:
            raise RowRefused(
                "row.field.value", f"{at}/label", f"expected {' or '.join(LABELS)}, found {label[:40]!r}"
            )
        doc_id, row_id = f"evidence-{number + 1}", text_field(one, "id", at)
        docs.append(source(spec, doc_id, text, dataset="fever-symmetric", row=row_id, license="CC-BY-SA-3.0"))
        spans.append(TextRange(doc_id=doc_id, start=0, end=len(text)))
        labels.append(label)
    sides = {label: span for label, span in zip(reversed(labels), reversed(spans), strict=True)}
    pairs: tuple[LabelledContradiction, ...] = ()
    if len(sides) == len(LABELS):
        pairs = (LabelledContradiction(left=sides["SUPPORTS"], right=sides["REFUTES"], kind="labelled"),)
    sample = Sample(
        input=SampleInput(
            sample_id=field(rows[0], "id", str, "/rows/0"),
            task=spec.name,
            project=spec.project,
            question=text_field(rows[0], "claim", "/rows/0"),
            sources=tuple(docs),
            as_of=spec.as_of,
            contradictions=pairs,
        ),
        gold=Gold(answers=tuple(dict.fromkeys(labels)), spans=tuple(spans)),
    )
    return Made(sample=sample, value={"rows": rows}, exact=len(spans))
