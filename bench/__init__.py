"""The shell: Hydra app, pipeline, engines, scorers, metrics, report and run store."""
