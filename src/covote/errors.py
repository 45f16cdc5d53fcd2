"""Errors and warnings: each message says what was found, what is needed and what to do next."""

from __future__ import annotations


class CovoteError(ValueError):
    """Base of every error that covote raises on purpose."""


class InputError(CovoteError):
    """The annotations, the truth or the options given do not make sense."""


class ColumnError(InputError):
    """A column that is needed was not found, or not recognised."""


class ConflictError(InputError):
    """One annotator gave one item two different labels."""


class NotApplicableError(CovoteError):
    """The method cannot work on this kind of crowd (for example: binary only)."""


class NotFittedError(CovoteError, AttributeError):
    """A result was asked for before `fit`."""


class FileError(CovoteError):
    """A file could not be read or written, is damaged, or is of a newer format."""


class MissingExtraError(CovoteError, ImportError):
    """An optional package is needed for this and is not installed."""


class ConvergenceWarning(UserWarning):
    """The iteration limit was reached before the tolerance."""


class CrowdWarning(UserWarning):
    """Something about the crowd the user should know: unknown, silent or unconnected annotators."""
