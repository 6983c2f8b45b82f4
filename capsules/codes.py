"""The one registry of codes. Append-only: a released code keeps its meaning for ever.

A code is ``<area>.<words>``, two to four parts. Its kind is here and not in its spelling:
``failure`` makes a capsule (or a quote) invalid, ``info`` stands beside a result and changes
nothing, ``success`` says explicitly what was checked and held.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

Kind = Literal["success", "failure", "info"]

CODE_PATTERN = r"[a-z][a-z0-9_]*(\.[a-z0-9_]+){1,3}"

# One line a code, sorted; new ones go to their alphabetical place.
CODES: Mapping[str, Kind] = MappingProxyType(
    {
        "answer.empty": "info",
        "answer.no_quote": "info",
        "authority.expired": "failure",
        "authority.not_yet_valid": "failure",
        "authority.revoked": "failure",
        "authority.scope_exceeded": "failure",
        "budget.protected.truncated": "failure",
        "build.failed": "info",
        "build.missing": "info",
        "bytes.digest.match": "success",
        "bytes.digest.mismatch": "failure",
        "bytes.digest.missing": "failure",
        "bytes.size.exceeded": "failure",
        "cell.void": "info",
        "contract.number_missing": "info",
        "contract.number_several": "info",
        "contract.number_unknown": "info",
        "contract.quotes_exceeded": "info",
        "contract.unfinished": "info",
        "engine.error": "info",
        "engine.unknown": "info",
        "evidence.ref.missing": "failure",
        "evidence.required.omitted": "failure",
        "freshness.expired": "failure",
        "gold.no_answers": "info",
        "gold.no_spans": "info",
        "id.malformed": "failure",
        "json.bom": "failure",
        "json.constant": "failure",
        "json.depth.exceeded": "failure",
        "json.key.duplicate": "failure",
        "json.noncanonical": "failure",
        "json.number.float": "failure",
        "json.number.negative_zero": "failure",
        "json.number.range": "failure",
        "json.string.noncharacter": "failure",
        "json.string.surrogate": "failure",
        "json.syntax": "failure",
        "json.utf8.invalid": "failure",
        "label.flow.denied": "failure",
        "label.undetermined": "failure",
        "latency.not_streaming": "info",
        "latency.single_token": "info",
        "norm.unicode.unassigned": "info",
        "object.missing": "failure",
        "object.type.mismatch": "failure",
        "omission.no_record": "info",
        "omission.unaccounted": "failure",
        "provider.unauthorized": "failure",
        "quote.ambiguous": "info",
        "quote.dehyphenated": "info",
        "quote.empty": "failure",
        "quote.inside_character": "failure",
        "quote.partial_token": "info",
        "quote.too_short": "failure",
        "ref.conflict": "failure",
        "ref.malformed": "failure",
        "ref.rollback": "failure",
        "render.control_token": "failure",
        "render.lossy": "info",
        "request.missing": "info",
        "response.missing": "info",
        "runtime.unsupported": "failure",
        "schema.duplicate": "failure",
        "schema.field.missing": "failure",
        "schema.field.type": "failure",
        "schema.field.unknown": "failure",
        "schema.limit": "failure",
        "schema.major.unsupported": "failure",
        "schema.order": "failure",
        "schema.reference": "failure",
        "schema.word": "failure",
        "scope.project.mismatch": "failure",
        "source.digest.changed": "failure",
        "source.missing": "failure",
        "source.utf8.invalid": "failure",
        "span.context.mismatch": "failure",
        "span.exact.mismatch": "failure",
        "span.range": "failure",
        "stage.absent": "info",
        "store.format.unknown": "failure",
        "store.io": "failure",
        "store.not_found": "failure",
        "store.not_regular": "failure",
        "store.poisoned": "failure",
        "store.read_only": "failure",
        "store.symlink": "failure",
        "time.malformed": "failure",
        "tokenizer.mismatch": "failure",
    }
)


def kind_of(code: str) -> Kind:
    """The kind of a registered code.

    Raises:
        KeyError: The code is not registered; a report must never hold such a code.
    """
    if code not in CODES:
        raise KeyError(f"code {code!r} is not registered in capsules.codes.CODES ({len(CODES)} codes)")
    return CODES[code]
