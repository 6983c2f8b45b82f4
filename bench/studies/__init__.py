"""Studies: one rule of the pipeline measured on a task, without a model, an engine or a run folder."""
