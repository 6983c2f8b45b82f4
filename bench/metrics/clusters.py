"""Which samples are no independent draws: those that ask over the same set of sources.

Rules of this module:

* Samples with the same set of sources, whatever their order, are one cluster.
* A sample without sources of its own (over a corpus) is a cluster by itself: the corpus is fixed, and the
  question is what varies.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

Clusters = Mapping[str, Hashable]


def cluster_of(own: Iterable[str], itself: Hashable) -> Hashable:
    """The cluster of one sample.

    Args:
        own: Its own sources, by text or by digest.
        itself: What names it where it has none.
    """
    return frozenset(own) or itself


def labels(sample_ids: Sequence[str], clusters: Clusters) -> list[Hashable]:
    """The clusters of these samples, in their order; one that ``clusters`` does not hold is its own."""
    return [clusters.get(sample_id, sample_id) for sample_id in sample_ids]
