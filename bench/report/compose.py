"""The order of a report: what ran, what went wrong, promises, numbers, the answers behind them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bench.report import numbers, pictures
from bench.report.arm_series import series_curves
from bench.report.brief import brief_table
from bench.report.definitions import metrics_table
from bench.report.document import Block, Commands, Document, Facts, Paragraph, Section
from bench.report.examples import RULE, examples
from bench.report.facts import fake_engines, replayed_runs, what_ran, what_went_wrong
from bench.report.figure_style import Drawn
from bench.report.promises import promise_table
from bench.report.table import Table
from bench.report.tables_cache import cache_table
from bench.report.tables_compression import compressing, losses_table, rates_table
from bench.report.tables_contracts import contract_differences_table, contracts_table, has_contracts
from bench.report.tables_cost import latency_table, tokens_table
from bench.report.tables_data import data_table
from bench.report.tables_differences import differences_table
from bench.report.tables_evidence import omissions_table, recall_table
from bench.report.tables_outputs import outputs_table
from bench.report.tables_price import price_table
from bench.report.tables_quality import answers_table, arms_table
from bench.report.tables_routing import routes_table
from bench.report.tables_unbuilt import unbuilt_table, unbuilt_told
from bench.report.view import RunView, is_upper_bound


def compose(view: RunView) -> Document:
    """The report of a run."""
    parts: tuple[tuple[str, str, tuple[Block, ...]], ...] = (
        ("run", "What ran", (*_warnings(view), Facts(pairs=tuple(what_ran(view))))),
        ("health", "What went wrong", (Facts(pairs=tuple(what_went_wrong(view))), *_health(view))),
        ("brief", "In brief", _brief(view)),
        ("promises", "The promises, one by one", _promises(view)),
        ("arms", "Arms side by side", (*_arms(view), *series_curves(view))),
        ("differences", "Paired differences", _differences(view)),
        *_contracts(view),
        *_routing(view),
        ("evidence", "Evidence: what was sent, what was left out", _evidence(view)),
        *_compression(view),
        ("tokens", "Tokens", (pictures.tokens(view), tokens_table(view))),
        *_cost(view),
        ("latency", "Latency by cache state", (pictures.ttft(view), latency_table(view), cache_table(view))),
        ("outputs", "Outputs across cache states", _outputs(view)),
        ("answers", "Some answers", (Paragraph(text=RULE), *examples(view))),
        ("metrics", "What the metrics mean", (metrics_table(),)),
        ("rederive", "How to derive this report again", _rederive(view)),
    )
    fake = bool(fake_engines(view))
    return Document(
        title=f"Capsule bench: {view.input.spec.experiment}",
        sections=tuple(
            Section(anchor=anchor, title=title, blocks=tuple(_stamped(b) if fake else b for b in blocks))
            for anchor, title, blocks in parts
        ),
    )


def _stamped(block: Block) -> Block:
    """A table that is copied from the report of a fake engine still says so."""
    if isinstance(block, Table) and block.name != "metrics":
        return replace(block, caption=f"FAKE ENGINE, no model was measured. {block.caption}")
    return block


def _warnings(view: RunView) -> list[Block]:
    warnings: list[Block] = []
    fakes = ", ".join(dict.fromkeys(fake_engines(view)))
    if fakes:
        text = f"FAKE ENGINE: {fakes} is no model. No number here says anything about one."
        warnings.append(Paragraph(text=text, warning=True))
    if replayed := replayed_runs(view):
        text = (
            f"REPLAYED: these are the answers that run {', '.join(replayed)} recorded, judged anew. Nothing "
            "was computed or timed here; what that run measured of time stands in its own report."
        )
        warnings.append(Paragraph(text=text, warning=True))
    void = ", ".join(dict.fromkeys(row.cell_id for row in view.input.cells if row.void))
    if void:
        text = (
            f"VOID CELLS: {void}. The engine's counters contradict the cache state; what rests on "
            "their answers has no number."
        )
        warnings.append(Paragraph(text=text, warning=True))
    warnings += [Paragraph(text=text, warning=True) for text in (_errors(view), unbuilt_told(view)) if text]
    return warnings


def _errors(view: RunView) -> str | None:
    """What failed, in a sentence; ``None`` where nothing did."""
    answers, builds = view.index.responses.values(), view.index.builds.values()
    failed, unbuilt = (sum(row.status != "ok" for row in rows) for rows in (answers, builds))
    held = view.input.unsent
    if not failed and not unbuilt and not held:
        return None
    unsent = ""
    if held:
        codes = ", ".join(f"{code} {n:,}" for code, n in sorted(Counter(held.values()).items()))
        unsent = f", {numbers.count_of(len(held), len(builds))} were built and not sent ({codes})"
    return (
        f"ERRORS: {numbers.count_of(failed, len(answers))} requests failed, "
        f"{numbers.count_of(unbuilt, len(builds))} prompts could not be built{unsent}. They count 0 and stay "
        "in the denominators; the bounds say what they could hide."
    )


def _health(view: RunView) -> tuple[Table, ...]:
    return tuple(table for table in (unbuilt_table(view), data_table(view)) if table is not None)


def _cost(view: RunView) -> tuple[tuple[str, str, tuple[Block, ...]], ...]:
    table = price_table(view)
    return () if table is None else (("cost", "Cost", (table,)),)


def _routing(view: RunView) -> tuple[tuple[str, str, tuple[Block, ...]], ...]:
    table = routes_table(view)
    return () if table is None else (("routing", "Routing", (table,)),)


def _brief(view: RunView) -> tuple[Block, ...]:
    table = brief_table(view)
    if table is None:
        text = f"No capsule arm and naive arm share the cache state {view.reference_state}."
        return (Paragraph(text=text),)
    return (table,)


def _promises(view: RunView) -> tuple[Block, ...]:
    text = (
        f"Each number is a mean over samples with its n and 95 % interval, in the cache state "
        f"{view.reference_state} "
        "unless the row says otherwise; the last columns are paired differences against the naive arms. "
        "Samples over one set of sources are drawn together, and one set alone has no interval. "
        "What a run cannot show is not measured here, with the reason."
    )
    return (Paragraph(text=text), promise_table(view))


def _arms(view: RunView) -> tuple[Block, ...]:
    bounds = [arm.arm_id for arm in view.arms if is_upper_bound(arm)]
    text = f"Upper bounds, which were given the gold evidence: {', '.join(bounds)}." if bounds else ""
    notes = (Paragraph(text=text),) if text else ()
    return (*notes, pictures.exactness(view), arms_table(view), answers_table(view))


def _differences(view: RunView) -> tuple[Block, ...]:
    return (*_present(pictures.exactness_differences(view)), differences_table(view))


def _contracts(view: RunView) -> tuple[tuple[str, str, tuple[Block, ...]], ...]:
    """The section on output contracts, in a run that compares some."""
    if not has_contracts(view):
        return ()
    against = contract_differences_table(view)
    tables = (contracts_table(view),) if against is None else (contracts_table(view), against)
    return (("contracts", "Output contracts", tables),)


def _evidence(view: RunView) -> tuple[Block, ...]:
    return (*_present(pictures.waterfall(view)), omissions_table(view), recall_table(view))


def _compression(view: RunView) -> tuple[tuple[str, str, tuple[Block, ...]], ...]:
    if not compressing(view):
        return ()
    text = (
        "Protected: required sentences, question and contract are never touched. Raw: the whole evidence is "
        "one text, as a user would run a library over it."
    )
    blocks = (Paragraph(text=text), rates_table(view), losses_table(view))
    return (("compression", "Compression: what it saved, what it lost", blocks),)


def _present(figure: Drawn | None) -> tuple[Drawn, ...]:
    return () if figure is None else (figure,)


def _outputs(view: RunView) -> tuple[Block, ...]:
    table = outputs_table(view)
    return (Paragraph(text="No arm has two cache states."),) if table is None else (table,)


def _rederive(view: RunView) -> tuple[Block, ...]:
    run = view.input.manifest.get("run_id") or "RUN"
    return (
        Paragraph(
            text="Every number comes from stored rows and sources; no model is needed to derive it again."
        ),
        Commands(
            lines=(
                f"capsule-bench verify {run}    # digests, records, scores and report, as stored",
                f"capsule-bench rescore {run}   # the scores again, from stored answers and sources",
                f"capsule-bench report {run}    # this report again, byte for byte (same package versions)",
                f"capsule-bench run experiment={view.input.spec.experiment}   # the experiment again",
            )
        ),
    )
