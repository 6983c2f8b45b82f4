"""Several runs side by side, paired by sample: what ``compare`` and the end of a sweep write."""
