"""Any table or file of answers -> checked, encoded `Annotations`."""

from covote.annotations.load import Loaded, load, read
from covote.annotations.reading import Reading
from covote.annotations.truth import Truth, load_truth
from covote.annotations.value import NO_CODE, Annotations, Vocabulary

__all__ = ["NO_CODE", "Annotations", "Loaded", "Reading", "Truth", "Vocabulary", "load", "load_truth", "read"]
