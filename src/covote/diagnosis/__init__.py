"""Can this crowd be trusted? An engine or pair counts and a model in, findings with evidence and advice out."""

from covote.diagnosis.crowd import diagnose_crowd
from covote.diagnosis.value import Dependence, Diagnosis, Finding, LabelQuality, Severity

__all__ = ["Dependence", "Diagnosis", "Finding", "LabelQuality", "Severity", "diagnose_crowd"]
