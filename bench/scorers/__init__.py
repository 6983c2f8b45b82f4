"""Per-sample scores: ``bench.scorers.run.score_run`` and the registry ``bench.scorers.registry.SCORERS``."""
