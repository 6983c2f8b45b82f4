"""Labels and how they join."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from capsules.errors import SchemaError
from capsules.visibility import LEVELS, Visibility, join_labels, join_levels


def refusal(make: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(SchemaError) as caught:
        make()
    return caught.value.code, caught.value.at


def test_levels_join_to_the_most_restricted() -> None:
    assert LEVELS == ("public", "internal", "confidential", "restricted")
    assert join_levels(["internal", "public"]) == "internal"
    assert join_levels(["restricted"]) == "restricted"
    assert refusal(lambda: join_levels([])) == ("label.undetermined", "")
    assert refusal(lambda: join_levels(["public", "secret"])) == ("schema.word", "")


def test_the_join_of_levels_is_a_lattice() -> None:
    for one in LEVELS:
        assert join_levels([one, one]) == one
        for other in LEVELS:
            joined = join_levels([one, other])
            assert joined == join_levels([other, one])
            assert LEVELS.index(joined) >= max(LEVELS.index(one), LEVELS.index(other))
            for third in LEVELS:
                assert join_levels([joined, third]) == join_levels([one, join_levels([other, third])])


def test_labels_of_two_projects_do_not_join() -> None:
    def label(level: str, project: str = "demo") -> Visibility:
        return Visibility(level=level, project=project)

    assert join_labels([label("public"), label("confidential")]) == label("confidential")
    assert refusal(lambda: join_labels([label("public"), label("public", "other")])) == (
        "scope.project.mismatch",
        "",
    )
    assert refusal(lambda: join_labels([])) == ("label.undetermined", "")
