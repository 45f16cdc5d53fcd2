"""Any table or file of answers -> checked, encoded `Annotations`."""

from covote.annotations.load import Loaded, load
from covote.annotations.truth import Truth, load_truth
from covote.annotations.value import NO_CODE, Annotations, Vocabulary

__all__ = ["NO_CODE", "Annotations", "Loaded", "Truth", "Vocabulary", "load", "load_truth"]
