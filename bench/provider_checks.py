"""What the providers of a config must satisfy: endpoints, names, and what a server can be asked for.

Rules that this module owns:

* ``local`` is the run's own engine: no endpoint, no server. Every other provider has both.
* Without an engine of ours behind it, caching cannot be switched off; ``cold`` and ``primed`` need salts and
  a reset. What remains for any server is ``served``: its cache as it is.
* An arm's authority must cover the provider that the arm names; nothing widens it. (Where it does not cover
  ``local``, the requests are skipped as ``provider.unauthorized``.)
"""

from __future__ import annotations

import re
from datetime import date

from bench.config_checks import ConfigError, in_range, one_of
from bench.engines.endpoint import target_of
from bench.groups import BY_POLICY
from bench.specs import ArmSpec, ProviderSpec, RunSpec, ServerSpec
from capsules.decision import LOCAL
from capsules.visibility import LEVELS

OWN_SERVER = "vllm_server"
PROMPTS = ("ids", "text", "chat")

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ANYTHING = re.compile(r"\S.*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_providers(spec: RunSpec) -> None:
    """Refuse providers, and arms that name them, that cannot work.

    Raises:
        ConfigError: Naming the setting.
    """
    known = {LOCAL, *(p.provider_id for p in spec.providers)}
    for provider in spec.providers:
        _check_provider(provider, known)
    for arm in spec.arms:
        _check_arm(arm, spec)


def check_prices(spec: RunSpec) -> None:
    """Refuse a price table that says nothing of its source or day, or prices somebody who is not there.

    Raises:
        ConfigError: Naming the setting.
    """
    prices = spec.prices
    if not prices.providers:
        return
    known = {LOCAL, *(p.provider_id for p in spec.providers)}
    for key, value, pattern, expected in (
        ("currency", prices.currency, _CURRENCY, "three capital letters"),
        ("as_of", prices.as_of, _DAY, "YYYY-MM-DD"),
        ("source", prices.source, _ANYTHING, "where the prices stand"),
    ):
        if not pattern.fullmatch(value):
            raise ConfigError(f"prices.{key}: expected {expected}, found {value!r}")
    try:
        date.fromisoformat(prices.as_of)
    except ValueError as error:
        raise ConfigError(
            f"prices.as_of: expected a day that the calendar has (YYYY-MM-DD), found {prices.as_of!r}"
        ) from error
    for price in prices.providers:
        if price.provider not in known:
            at = f"providers.{price.provider}"
            raise ConfigError(
                f"prices.{at}: expected a provider of the run ({', '.join(sorted(known))}), found none named "
                f"{price.provider!r}; +price@prices.{at}=... prices a provider, +provider@{at}=openai adds it"
            )
        for name in ("input_uncached", "cache_read", "cache_write", "output", "engine_hour"):
            value = getattr(price, name)
            if value is not None:
                in_range(f"prices.providers.{price.provider}.{name}", value, 0)


def _check_provider(provider: ProviderSpec, known: set[str]) -> None:
    at = f"providers.{provider.provider_id}"
    if not _NAME.fullmatch(provider.provider_id) or provider.provider_id == BY_POLICY:
        raise ConfigError(
            f"{at}: expected lower-case letters, digits, _ and -, and not {BY_POLICY!r}, as name"
        )
    one_of(f"{at}.max_level", provider.max_level, LEVELS)
    for name in provider.fallbacks:
        if name == provider.provider_id or name not in known:
            raise ConfigError(f"{at}.fallbacks: expected ids of other providers, found {name!r}")
    if provider.provider_id == LOCAL:
        if provider.endpoint is not None or provider.server is not None:
            raise ConfigError(
                f"{at}: this machine has neither endpoint nor server; name the provider otherwise"
            )
        return
    if provider.server is None:
        raise ConfigError(f"{at}.server is not set: how is it asked? e.g. +provider@{at}=openai")
    if target_of(provider.endpoint) is None:
        raise ConfigError(
            f"{at}.endpoint: expected https://host[:port]/path, or http:// on this machine, "
            f"found {provider.endpoint!r}"
        )
    _check_server(f"{at}.server", provider.server, provider.endpoint or "")


def _check_server(at: str, server: ServerSpec, endpoint: str) -> None:
    one_of(f"{at}.prompt", server.prompt, PROMPTS)
    if not server.model:
        raise ConfigError(f"{at}.model is empty: expected the name that the server knows the model by")
    if server.key_env is not None and not _VARIABLE.fullmatch(server.key_env):
        raise ConfigError(
            f"{at}.key_env: expected the name of an environment variable (never the key itself), "
            "found something else"
        )
    in_range(f"{at}.timeout_s", server.timeout_s, 1)
    in_range(f"{at}.retries", server.retries, 0, 10)
    in_range(f"{at}.backoff_ms", server.backoff_ms, 1, 60_000)
    if server.block_size is not None:
        in_range(f"{at}.block_size", server.block_size, 1)
    if server.engine == OWN_SERVER:
        if server.key_env is not None:
            raise ConfigError(f"{at}.key_env: a server of our own takes no key, found {server.key_env!r}")
        target = target_of(endpoint)
        if target is None or target.host != "127.0.0.1" or target.path != "/v1" or server.prompt != "ids":
            raise ConfigError(
                f"{at}: a server of our own is asked by ids at http://127.0.0.1:<port>/v1, found "
                f"{server.prompt} at {endpoint}"
            )


def _check_arm(arm: ArmSpec, spec: RunSpec) -> None:
    at = f"arms.{arm.arm_id}"
    providers = {p.provider_id: p for p in spec.providers}
    if arm.provider == BY_POLICY:
        if not spec.providers:
            raise ConfigError(f"{at}.provider is policy, but there are no providers to choose from")
        asked = list(providers)
    else:
        one_of(f"{at}.provider", arm.provider, (LOCAL, BY_POLICY, *(p for p in providers if p != LOCAL)))
        asked = [arm.provider]
        if arm.provider not in (LOCAL, *arm.authority.providers):
            raise ConfigError(
                f"{at}.provider is {arm.provider}, but {at}.authority.providers lists "
                f"{', '.join(arm.authority.providers) or 'nobody'}: add it there"
            )
    for name in asked:
        server = providers[name].server if name in providers else None
        if server is not None:
            _check_caches(at, arm, name, server)
            if arm.contract.name.endswith("_constrained") and not server.grammar:
                raise ConfigError(
                    f"{at}.contract.name is {arm.contract.name}, but provider {name} takes no grammars: "
                    f"set providers.{name}.server.grammar=true if it does"
                )


def _check_caches(at: str, arm: ArmSpec, name: str, server: ServerSpec) -> None:
    can = {"served"}
    if server.salt and server.control:
        can |= {"cold", "primed"} | ({"off"} if server.engine == OWN_SERVER else set())
    for cache in arm.caches:
        if cache not in can:
            raise ConfigError(
                f"{at}.caches holds {cache}, which provider {name} ({server.engine}) cannot be brought into: "
                f"expected some of {', '.join(sorted(can))}"
            )
