"""Runtime constraints."""

from __future__ import annotations

import pytest

from capsules.runtime import RUNTIME, supports


@pytest.mark.parametrize(
    ("constraint", "runtime", "holds"),
    [
        ("capsules>=1,<2", "1.0.0", True),
        ("capsules>=1,<2", "1.999999999.0", True),
        ("capsules>=1,<2", "2.0.0", False),
        ("capsules>=1,<2", "0.9", False),
        ("capsules==1.2", "1.2.0", True),
        ("capsules==1.2", "1.2.1", False),
        ("capsules!=1.2", "1.2.1", True),
        ("capsules!=1.2", "1.2", False),
        ("capsules<=1.10", "1.9", True),  # numbers, not strings
        ("capsules<=1.10", "1.10.0", True),
        ("capsules<=1.10", "1.10.1", False),
        ("capsules>1.0.0", "1.0.0", False),
        ("capsules>1.0.0", "1.0.1", True),
        ("capsules<1", "0.9.9", True),
        ("capsules<1", "1", False),
        ("capsules", "1.0.0", False),
        ("capsules>=1,", "1.0.0", False),
        ("capsules>=1 ", "1.0.0", False),
        ("capsules >=1", "1.0.0", False),
        ("capsules>=1\n", "1.0.0", False),
        ("capsules>=1.0.0.0", "1.0.0", False),
        ("capsules>=1.", "1.0.0", False),
        ("capsules>=", "1.0.0", False),
        ("capsules~=1", "1.0.0", False),
        ("capsulesx>=1", "1.0.0", False),
        ("vllm>=0.1", "1.0.0", False),
        (">=1", "1.0.0", False),
        ("", "1.0.0", False),
        ("capsules>=٣", "9.0.0", False),
    ],
)
def test_what_a_constraint_allows(constraint: str, runtime: str, holds: bool) -> None:
    assert supports(constraint, runtime) is holds


def test_this_runtime() -> None:
    assert RUNTIME == "1.0.0"
    assert supports("capsules>=1,<2")
    assert not supports("capsules>=2")
