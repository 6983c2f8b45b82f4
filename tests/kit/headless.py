"""Looks at a page in headless Chromium: what a script in it measures inside a frame of a given width."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

_FRAME = """<!doctype html><title>waiting</title>
<script>addEventListener("message", (event) => { document.title = event.data; });</script>
<iframe src="%s" style="width:%dpx;height:900px;border:0"></iframe>
"""


def browser() -> str:
    """Chromium, where there is one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("no Chromium on the PATH: the page was not looked at in a browser")


def put(page: Path, text: str, probe: str) -> Path:
    """Write a page with a script that posts what it measures; the script is not ours to forbid."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    page.write_text(text.replace("</body>", f"{probe}</body>"), "utf-8")
    return page


def measured(page: Path, width: int, *flags: str) -> dict[str, Any]:
    """What the script of a page posted to the frame that holds it."""
    frame = page.with_name(f"frame-{width}.html")
    frame.write_text(_FRAME % (page.name, width), "utf-8")
    done = subprocess.run(
        [
            browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", "--hide-scrollbars",
            f"--user-data-dir={page.parent / f'profile-{width}-{len(flags)}'}", "--window-size=1400,1000",
            "--virtual-time-budget=3000", *flags, frame.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    title = re.search(r"<title>(\{.*?\})</title>", done.stdout)
    assert title, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(html.unescape(title.group(1)))
    return found
