"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept-golden",
        action="store_true",
        help="write the golden files of the report instead of comparing",
    )


@pytest.fixture(scope="session")
def capsule_data() -> Path:
    """The folder of public data sets; tests that need it skip loudly without it."""
    value = os.environ.get("CAPSULE_DATA")
    if not value:
        pytest.skip("CAPSULE_DATA is not set: public data sets are not available (see README, 'Tests')")
    path = Path(value)
    if not path.is_dir():
        pytest.fail(f"CAPSULE_DATA names no folder: {path}")
    return path
