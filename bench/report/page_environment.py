"""How templates become pages, the same for every page of ours.

Rules that this module owns:

* Autoescape is on, and a name that a template does not get is an error.
* Jinja2 is imported when a page is written: importing a page's module costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2


def page_environment(template: Callable[[str], str]) -> jinja2.Environment:
    """The environment of a page whose templates have these texts, by name."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
