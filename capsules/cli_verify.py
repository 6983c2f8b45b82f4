"""What ``python -m capsules verify`` prints and returns, as pure functions of a report."""

from __future__ import annotations

from capsules.report import Check, ValidationReport

_SHOWN = 50


def exit_status(report: ValidationReport, *, provider: str | None) -> int:
    """0 valid (and authorized, with a provider); 1 a finding; 2 there was no id to verify against."""
    if "bytes.digest.missing" in report.codes():
        return 2
    return 0 if report.valid and (provider is None or report.authorized) else 1


def summary(report: ValidationReport) -> str:
    """The report in a few lines for a person; the JSON says everything."""
    failed = [row for row in report.checks if row.result == "fail"]
    skipped = sorted({row.check for row in report.checks if row.blocked_by == "input"})
    lines = [f"{'valid' if report.valid else 'INVALID'}: {report.subject or 'no id'} at {report.now}"]
    if report.authorized is not None:
        lines.append("authorized" if report.authorized else "NOT AUTHORIZED")
    lines += [_line(row) for row in failed[:_SHOWN]]
    if len(failed) > _SHOWN:
        lines.append(f"  and {len(failed) - _SHOWN} more failures")
    if skipped:
        lines.append(f"not checked, input not given: {', '.join(skipped)}")
    return "\n".join(lines) + "\n"


def _line(row: Check) -> str:
    place = f" at {row.at}" if row.at else ""
    record = f" of {row.record}" if row.record else ""
    return f"  {row.code}{place}{record}: expected {row.expected}, found {row.actual}"
