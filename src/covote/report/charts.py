"""Facts in, every chart they allow out, in the order of the page."""

from __future__ import annotations

from covote.report import charts_crowd as crowd
from covote.report import charts_labels as labels
from covote.report import charts_people as people
from covote.report import charts_trust as trust
from covote.report.chart import Chart
from covote.report.facts import Facts

_MAKERS = (
    labels.class_chart,
    labels.confidence_chart,
    labels.calibration_chart,
    people.annotator_chart,
    people.matrix_chart,
    crowd.overlap_chart,
    crowd.answers_chart,
    trust.alike_chart,
    trust.freedom_chart,
    crowd.simplex_chart,
    crowd.purity_chart,
    trust.held_out_chart,
    labels.convergence_chart,
    labels.comparison_chart,
)


def charts(facts: Facts) -> dict[str, Chart]:
    """The charts by name; one whose facts are missing is left out."""
    made = (maker(facts) for maker in _MAKERS)
    return {chart.name: chart for chart in made if chart is not None}
