"""The report: a fitted estimator in, one self-contained HTML file, its facts as JSON, and figures out."""

from covote.report.collect import Extras, collect
from covote.report.facts import Facts
from covote.report.write import Report, write_report

__all__ = ["Extras", "Facts", "Report", "collect", "write_report"]
