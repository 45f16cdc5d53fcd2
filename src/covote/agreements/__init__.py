"""How far annotators agree: coefficients from counts of labels, with intervals over items and how to read them."""

from covote.agreements.measure import measure_agreement
from covote.agreements.value import Agreement, ClassAgreement, Coefficient

__all__ = ["Agreement", "ClassAgreement", "Coefficient", "measure_agreement"]
