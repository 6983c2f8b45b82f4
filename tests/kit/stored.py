"""Two objects, where a store on the disk keeps them, and the code of what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capsules.content_id import content_id
from capsules.errors import CapsuleError

A, B = b"first object", b"second object"
ID = content_id(A)
FORMAT = b'{"format":"capsule-store/1","hash":"b3"}'


def path_of(root: Path, object_id: str = ID) -> Path:
    return root / "objects" / "b3" / object_id[3:5] / object_id[5:]


def code_of(call: Callable[[], Any]) -> str:
    with pytest.raises(CapsuleError) as caught:
        call()
    return caught.value.code
