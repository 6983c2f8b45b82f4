"""The command of docs/cost.md: a provider is added, then its price."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bench.config import to_spec
from bench.config_checks import ConfigError
from bench.hydra_app import compose_config

DOCS = Path(__file__).resolve().parents[3] / "docs" / "cost.md"


def documented() -> list[str]:
    """The overrides of the command that the page shows."""
    (command,) = re.findall(r"```\ncapsule-bench run (.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    return shlex.split(command.replace("\\\n", " "))


def test_the_documented_command_prices_the_provider_that_it_adds() -> None:
    spec = to_spec(compose_config(documented()))
    (price,) = (price for price in spec.prices.providers if price.provider == "cloud")
    assert (price.input_uncached, price.output, price.cache_read) == (2_500_000, 10_000_000, None)
    assert {provider.provider_id for provider in spec.providers} == {"cloud"}


def test_without_the_provider_its_price_says_how_to_add_it() -> None:
    price = [override for override in documented() if "price" in override]
    with pytest.raises(ConfigError, match=r"\+provider@providers\.cloud=openai adds it"):
        to_spec(compose_config(price))
