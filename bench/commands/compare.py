"""``capsule-bench compare``: complete runs side by side, paired by sample."""

from __future__ import annotations

import argparse
from pathlib import Path
from string import ascii_uppercase

from bench.commands.output import print_json, print_text
from bench.comparison.document import comparison_files
from bench.comparison.members import different_settings, load_member, require_members
from bench.comparison.tables import cells_table, members_table, paired_table
from bench.completion import write_files
from bench.plural import number_of
from bench.report.table import to_markdown
from bench.run_store import RunError, find_run


def run(arguments: argparse.Namespace) -> int:
    """Compare runs; the first one is what the others are paired with."""
    folders = [find_run(name, arguments.results) for name in arguments.targets]
    members = [load_member(folder, _label(i)) for i, folder in enumerate(folders)]
    require_members(members)
    title = f"Comparison of {len(members)} runs"
    written = _write(arguments.out, comparison_files(members, title=title)) if arguments.out else []
    varied = different_settings(members)
    paired = paired_table(members)
    if arguments.json:
        print_json(
            {
                "runs": [
                    {"run": str(m.folder.path), "manifest": m.digest, "label": m.label} for m in members
                ],
                "settings": {key: list(values) for key, values in varied.items()},
                "paired": [
                    {key: _exact(value) for key, value in zip(paired.data_head, row, strict=True)}
                    for row in paired.data
                ],
                "written": written,
            }
        )
        return 0
    for table in (members_table(members, varied), cells_table(members), paired):
        print_text(f"{table.caption}\n\n{to_markdown(table)}")
    if arguments.out:
        print_text(f"{number_of(len(written), 'file')} written to {arguments.out}")
    return 0


def _label(place: int) -> str:
    return ascii_uppercase[place] if place < len(ascii_uppercase) else f"run {place + 1}"


def _exact(value: object) -> object:
    """Canonical JSON has no floats: they are written as decimal strings."""
    return f"{value:.12g}" if isinstance(value, float) else value


def _write(out: Path, files: dict[str, bytes]) -> list[str]:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot make {out}: {error.strerror or error}") from error
    return write_files(out, files)
