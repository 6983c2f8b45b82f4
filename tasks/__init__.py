"""Public data sets as samples with gold evidence, and a labelled synthetic task."""
