"""The closed list of metrics: what each one means, in which unit, and which way is better.

Rules of this module:

* A name that is not here is never written to ``scores.parquet``; ``capsule-bench list metrics``
  prints this list.
* ``basis`` says what a value rests on, and so what an error or a void cell takes away: ``build``
  values need only the built prompt, ``answer`` and ``engine`` values need the response of the phase
  ``quality``, ``latency`` values the response of the phase ``latency``.
* Durations keep the unit of the files (integer microseconds); reports show milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

HIGHER, LOWER, NEUTRAL = "higher", "lower", "neutral"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """One metric.

    Attributes:
        unit: ``share`` (0 to 1), ``items``, ``tokens`` or ``us``.
        direction: ``higher`` or ``lower`` is better, or ``neutral``.
        basis: ``build``, ``answer``, ``engine`` or ``latency`` (see the module docstring).
        denominator: What a value is a share of; ``-`` for amounts.
    """

    name: str
    unit: str
    direction: str
    basis: str
    definition: str
    denominator: str = "-"

    @property
    def phase(self) -> str:
        """The phase whose expected cells carry a row of this metric."""
        return "latency" if self.basis == "latency" else "quality"

    @property
    def bounded(self) -> bool:
        """Whether a value lies between 0 and 1, so that errors give finite bounds."""
        return self.unit == "share"


_QUOTES = "quotes (or pointers) in the answer, unfinished and invalid ones included"
_GOLD = "code points of the gold spans that are not white space"

_SPECS = (
    MetricSpec(
        name="exact_citation",
        unit="share",
        direction=HIGHER,
        basis="answer",
        definition="Quotes that stand verbatim, or equal under quote/1, in the source that they cite. "
        "A pointer to a shown item is one.",
        denominator=_QUOTES,
    ),
    MetricSpec(
        name="exact_unique",
        unit="share",
        direction=HIGHER,
        basis="answer",
        definition="Exact quotes that occur only once in the source that they cite.",
        denominator=_QUOTES,
    ),
    MetricSpec(
        name="answer_in_quote",
        unit="share",
        direction=HIGHER,
        basis="answer",
        definition="1 if an accepted answer stands in a quote under quote/1 (case is kept), else 0.",
        denominator="the answer, if it holds a quote",
    ),
    MetricSpec(
        name="right_source",
        unit="share",
        direction=HIGHER,
        basis="answer",
        definition="Quotes whose number names a document that holds gold evidence.",
        denominator=_QUOTES,
    ),
    MetricSpec(
        name="omission_law",
        unit="share",
        direction=HIGHER,
        basis="build",
        definition="1 if all omission laws hold for the prompt; undefined without omission records.",
        denominator="the prompt",
    ),
    MetricSpec(
        name="silent_omissions",
        unit="items",
        direction=LOWER,
        basis="build",
        definition="Candidate items that are not in the prompt and that no record names.",
    ),
    *(
        MetricSpec(
            name=f"gold_recall_{stage}",
            unit="share",
            direction=HIGHER,
            basis="build",
            definition=f"Gold evidence that the items after {stage} cover.",
            denominator=_GOLD,
        )
        for stage in ("retrieval", "selection", "budget", "compression")
    ),
    MetricSpec(
        name="gold_sufficient",
        unit="share",
        direction=HIGHER,
        basis="build",
        definition="1 if the evidence shown covers all gold evidence, else 0.",
        denominator="the prompt, if the sample has gold spans",
    ),
    MetricSpec(
        name="excess_tokens",
        unit="tokens",
        direction=LOWER,
        basis="build",
        definition="Item tokens shown beyond the items that hold gold; undefined unless all gold is shown.",
    ),
    MetricSpec(
        name="tokens_prompt",
        unit="tokens",
        direction=LOWER,
        basis="build",
        definition="Token ids sent, beginning-of-sequence included.",
    ),
    MetricSpec(
        name="tokens_input_uncached",
        unit="tokens",
        direction=LOWER,
        basis="engine",
        definition="Prompt tokens that were neither read from nor billed as written to the prefix cache.",
    ),
    MetricSpec(
        name="tokens_cache_read",
        unit="tokens",
        direction=HIGHER,
        basis="engine",
        definition="Prompt tokens that the engine read from its prefix cache, as the engine reports them.",
    ),
    MetricSpec(
        name="tokens_cache_write",
        unit="tokens",
        direction=NEUTRAL,
        basis="engine",
        definition="Prompt tokens billed as cache writes; 0 for an engine that bills none.",
    ),
    MetricSpec(
        name="tokens_output",
        unit="tokens",
        direction=NEUTRAL,
        basis="engine",
        definition="Token ids generated.",
    ),
    MetricSpec(
        name="ttft_us",
        unit="us",
        direction=LOWER,
        basis="latency",
        definition="Time to first token: from queueing in the engine to the first generated token.",
    ),
    MetricSpec(
        name="tpot_us",
        unit="us",
        direction=LOWER,
        basis="latency",
        definition="Time per output token: (last token - first) / (output tokens - 1); undefined for one.",
    ),
    MetricSpec(
        name="itl_us",
        unit="us",
        direction=LOWER,
        basis="latency",
        definition="Inter-token latency: the median gap between tokens, where they are streamed one by one.",
    ),
    MetricSpec(
        name="e2e_us",
        unit="us",
        direction=LOWER,
        basis="latency",
        definition="End to end: the compressor's time, then from queueing to the last generated token.",
    ),
    MetricSpec(
        name="grammar_us",
        unit="us",
        direction=LOWER,
        basis="latency",
        definition="Checking and compiling the grammar of a constrained answer; part of ttft_us and e2e_us.",
    ),
)

METRICS: Mapping[str, MetricSpec] = MappingProxyType({spec.name: spec for spec in _SPECS})
