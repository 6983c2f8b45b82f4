"""Six samples over public evidence; every second one, the first too, has an internal memo beside it."""

from __future__ import annotations

from pathlib import Path

from capsules.canonical import canonical_bytes

PUBLIC, PRIVATE = "guide", "memo"


def write_lamp(file: Path, memo: str) -> Path:
    """Write the samples as rows of own data; ``memo`` is the internal text."""
    private = {"id": PRIVATE, "level": "internal", "text": memo}
    rows = [
        {
            "id": f"s{n}",
            "question": "How high stands the lamp?",
            "sources": [
                {"id": PUBLIC, "text": f"The lamp stands {40 + n} m high. It was lit in 1891."},
                *([] if n % 2 else [private]),
            ],
            "answers": [f"{40 + n} m"],
        }
        for n in range(6)
    ]
    file.write_bytes(b"\n".join(canonical_bytes(row) for row in rows))
    return file
