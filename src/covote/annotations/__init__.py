"""Any table or file of answers -> checked, encoded `Annotations`."""

from covote.annotations.value import NO_CODE, Annotations, Vocabulary

__all__ = ["NO_CODE", "Annotations", "Vocabulary"]
