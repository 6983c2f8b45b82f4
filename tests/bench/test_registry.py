from __future__ import annotations

import re

import pytest

from bench.build.capsule import CapsuleBuilder
from bench.build.registry import builder
from bench.registry import RegistryError, resolve, takes


class Own:
    """A builder as a user may bring it: an object that is called."""

    def __call__(self, sample: object, context: object) -> None: ...


def own_builder(sample: object, context: object) -> None: ...


def three(a: object, b: object, c: object) -> None: ...


def test_names_lead_to_the_registered_objects() -> None:
    assert isinstance(builder("capsule"), CapsuleBuilder)
    assert builder("naive") is builder("naive_volatile")


def test_module_and_attribute_lead_to_an_object_of_ones_own() -> None:
    assert resolve({}, "operator:add", takes("a", "b"), kind="builder")(2, 3) == 5
    assert resolve({}, "bench.build.naive:VOLATILE", lambda found: None, kind="word") == "naive_volatile"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "capsul",
            "unknown builder 'capsul': expected one of capsule, naive, naive_volatile, or module:attribute",
        ),
        ("no_such_module:x", "builder 'no_such_module:x': cannot import 'no_such_module'"),
        (":x", "builder ':x': cannot import ''"),
        ("bench.registry:nothing", "module 'bench.registry' has no 'nothing'"),
        ("bench.build.naive:VOLATILE", "expected a callable (sample, context), found str"),
        ("bench.build.naive:NaiveBuilder", "expected a callable (sample, context), found type"),
        (
            "bench.compression.none:none",
            "expected a callable (sample, context), found one with the signature",
        ),
    ],
)
def test_what_leads_nowhere_says_what_was_expected_and_found(name: str, says: str) -> None:
    with pytest.raises(RegistryError, match=re.escape(says)):
        builder(name)


@pytest.mark.parametrize("found", [Own(), own_builder, lambda a, b, c=1: None, lambda *a: None, max])
def test_a_callable_that_takes_the_arguments_passes(found: object) -> None:
    assert takes("sample", "context")(found) is None


@pytest.mark.parametrize("found", [three, lambda a: None, 7, None, Own])
def test_anything_else_does_not(found: object) -> None:
    assert "expected a callable (sample, context)" in str(takes("sample", "context")(found))
