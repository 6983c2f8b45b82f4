"""The help texts of ``python -m capsules``: what goes in, what comes out."""

from __future__ import annotations

_LINES = """Lines out = lines in, in order. A bad line gives {"error": {"code", "at"}} in its place, and
exit 1 at the end; what a good line says never changes the exit status. A line is at most 128 MiB and
holds at most 4,000,000 values (bytes.size.exceeded, schema.limit)."""

MATCH = f"""Is this quote in that source? One JSON object a line on stdin, one verdict a line on stdout.

in:   {{"source": str, "quote": str, "normalization"?: "raw/1"|"text/1"|"quote/1"|"compat/1" (quote/1),
       "start"?: int, "end"?: int, "prefix"?: str, "suffix"?: str, "min_chars"?: 1, "near"?: false}}
out:  {{"match": raw_exact|norm_exact|elided|stitched|near|absent|invalid, "place", "normalization",
       "start", "end", "text", "occurrences", "occurrences_total", "pieces"?, "widened"?, "distance"?,
       "diff"?, "codes"}}

Offsets are code points of the raw source, half-open.
{_LINES}

example:
  echo '{{"source": "The valve shut.", "quote": "valve shut"}}' | python -m capsules match"""

CITATIONS = f"""Which sources does each sentence cite? One JSON object a line on stdin, one a line on stdout.

in:   {{"answer": str, "sources": int, "base"?: 1, "lang"?: str}}
out:  {{"sentences": [{{"text", "start", "end", "cited": [int], "unknown": [int]}}], "marks": int,
       "malformed": [{{"text", "start"}}]}}

{_LINES}

example:
  echo '{{"answer": "It shut [1][3].", "sources": 2}}' | python -m capsules citations"""

CACHED = f"""How many prompt tokens would a prefix cache serve? One request a line on stdin, in order.

in:   {{"ids": [int], "salt"?: str, "block": int, "generated"?: [int]}}
out:  {{"predicted": int, "shared_tokens": int}}

Each line counts as finished before the next.
{_LINES}

example:
  echo '{{"ids": [1, 2, 3, 4, 5], "block": 2}}' | python -m capsules cached"""

CANONICAL = """Strict JSON on stdin; its canonical bytes (RFC 8785, integers only) on stdout, no newline.

A refusal is {"code", "at"} on stderr and exit 1.

example:
  echo '{"b": 1, "a": [true, null]}' | python -m capsules canonical"""

DIGEST = """The ContentId of a JSON file: strict JSON, `digest` removed if present, canonical bytes, BLAKE3.

With --raw: BLAKE3 of the bytes as they are, as b3sum prints it (a source, or a capsule's stored form)."""

VERIFY = """Validate a capsule file and print the report as JSON; a summary for people goes to stderr.

FILE is the wire form (it holds its digest), or the stored form together with --expect. Evidence
capsules and sources are looked up in the store. A check whose input was not given is not_evaluated and
does not make the capsule invalid. Nothing is written, also not to the store.

exit: 0 valid (with --provider: valid and authorized), 1 not, 2 could not be evaluated.

example:
  python -m capsules verify prompt.json --store results/demo/latest/store --now 2026-01-01T00:00:00Z"""
