"""What the settings of selection must satisfy.

Rule that this module owns: a setting that could have no effect in its arm is refused, so that no config says
something that its capsules do not do. Selectors of one's own may read every setting.
"""

from __future__ import annotations

from bench.config_checks import ConfigError
from bench.specs import ArmSpec, SelectionSpec
from capsules.place import MAX_NEEDS

UNITS = ("chunk", "sentence")
FULL_BP = 10_000
OF_FOVEA = ("needs", "witness_bp", "fill")


def check_selection(arm: ArmSpec) -> None:
    """Refuse settings of the stage that cannot work or could have no effect.

    Raises:
        ConfigError: Naming the setting of the arm.
    """
    at, found = f"arms.{arm.arm_id}.selection", arm.selection
    if found.unit not in UNITS:
        raise ConfigError(f"{at}.unit: expected one of {', '.join(UNITS)}, found {found.unit!r}")
    if found.tokens is not None and found.tokens < 1:
        raise ConfigError(f"{at}.tokens: expected at least 1, or null for no limit, found {found.tokens}")
    for name, value, low, high in (
        ("lambda_bp", found.lambda_bp, 0, FULL_BP),
        ("needs", found.needs, 1, MAX_NEEDS),
        ("witness_bp", found.witness_bp, 1, FULL_BP),
    ):
        if not low <= value <= high:
            raise ConfigError(f"{at}.{name}: expected {low} to {high}, found {value}")
    if found.name == "fovea" and found.unit != "sentence":
        raise ConfigError(f"{at}.unit: fovea chooses sentences: expected sentence, found {found.unit!r}")
    if found.fill and found.tokens is None:
        raise ConfigError(f"{at}.fill uses up selection.tokens: expected a number there, found none")
    if arm.layout != "capsule" and (found.unit != "chunk" or found.tokens is not None):
        raise ConfigError(f"{at}: layout {arm.layout} shows whole chunks: expected unit chunk and no tokens")
    _check_owners(at, found)


def _check_owners(at: str, found: SelectionSpec) -> None:
    if ":" in found.name:
        return
    usual = SelectionSpec()
    for owner, names in (("mmr", ("lambda_bp",)), ("fovea", OF_FOVEA)):
        for name in names:
            if found.name != owner and getattr(found, name) != getattr(usual, name):
                raise ConfigError(f"{at}.{name} belongs to selection {owner}, not {found.name}")
