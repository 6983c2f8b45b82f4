"""The builder, and the types of the fixtures that make what it is given (tests/bench/build/conftest.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.build.base import BuildContext
from bench.build.capsule import CapsuleBuilder
from bench.specs import ArmSpec
from tasks.base import SampleInput, SourceDoc

build = CapsuleBuilder()

Docs = Callable[..., SourceDoc]
Samples = Callable[..., SampleInput]
Arms = Callable[..., ArmSpec]
Contexts = Callable[..., BuildContext]
Look = Any  # the fixture `look`: reads a built prompt
