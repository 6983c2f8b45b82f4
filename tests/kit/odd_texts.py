"""Texts in which every rule of normalization finds something to do."""

from __future__ import annotations

from hypothesis import strategies as st

# Characters that meet every rule, and ordinary ones between them.
ODD = (
    "ab \n\r\t\u00ad\u200b\ufeff\u2019\u201c\u2010e\u0301\u0323\u0344\u00e9\u212b\u2000\u3000"
    "\u1100\u1161\u11a8\u0958\u093c\u0915\ufb03\ufe70\ufc5e\uff9e\uff76\u0f73\u0378\U00010efd\ufbdd\U0001f9ea"
)
texts = st.text(st.sampled_from(ODD), max_size=12)
# Several pieces long, so that ranges cross the places where the text is cut.
long_texts = st.builds(
    lambda parts, times: "".join(part * times for part in parts),
    st.lists(st.text(st.sampled_from(ODD), min_size=1, max_size=5), min_size=2, max_size=4),
    st.integers(100, 700),
)
