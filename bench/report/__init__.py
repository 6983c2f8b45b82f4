"""From a run's stored rows to ``report.md``, ``report.html``, tables and figures.

``bench.report.inputs`` says what a report is made from, ``bench.report.write`` writes it.
"""
