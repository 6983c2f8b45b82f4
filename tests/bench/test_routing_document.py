"""docs/routing.md: its program runs as it stands, its policy is one, its codes are registered."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import capsules
from bench.engines import http_call, http_transport, openai_body, openai_engine
from capsules import decision, egress
from capsules.codes import CODES
from capsules.content_id import content_id
from capsules.policy import read_policy

DOCUMENT = (Path(capsules.__file__).parents[1] / "docs/routing.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)
    return str(found)


def test_the_program_sends(routing: Any) -> None:
    policy = read_policy(block("json").encode())
    s = routing.scene()
    names = {
        "policy": policy, "store": s.store, "clock": s.clock, "capsule_id": s.capsule, "body": s.body,
        "content_id": content_id, "transport": routing.Loopback(),
    }  # fmt: skip
    program = block("python").replace(
        'provider="cloud"', 'provider="local"'
    )  # cloud takes public evidence alone

    exec(program, names)

    assert names["reply"] == "ok"


def test_the_policy_of_the_page_keeps_internal_evidence_from_the_cloud(routing: Any) -> None:
    s = routing.scene()
    s.policy = read_policy(block("json").encode())
    assert routing.codes(egress.authorize(s.ask("cloud"), s.gate)) == ("label.flow.denied",)
    assert routing.codes(egress.authorize(s.ask("local"), s.gate)) == ()


def test_every_code_of_the_way_out_stands_in_the_table() -> None:
    table = DOCUMENT.partition("## Codes")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", table))
    used = {
        code
        for module in (decision, egress, http_call, http_transport, openai_body, openai_engine)
        for code in re.findall(r'"([a-z_]+(?:\.[a-z_]+)+)"', Path(str(module.__file__)).read_text("utf-8"))
        if code in CODES
    }
    assert named <= CODES.keys()
    assert len(used) >= 20
    assert used <= named | {"clock.rollback"}
