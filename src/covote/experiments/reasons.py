"""REASONS: for a bar that was missed, what was found when it was looked into."""

from __future__ import annotations

from collections.abc import Iterable

from covote.experiments.checks import Check

REASONS: dict[str, str] = {
    "mse: multispa-ds": (
        "The paper's 0.000167 for case 2 at p = 1 is less than the 0.000171 to be expected when the class of "
        "every item is known: with (1 - |a|^2) / n the expected error of a column a counted from n answers, "
        "columns drawn as in the paper average 0.0001715. On the ten crowds drawn here counting with the truth "
        "gives the row truth-known, and multispa-ds, which must find the classes first and errs on 2 % of them, "
        "is some 5 % above it. Over 60 trials its mean is 0.000185 with a standard error of 0.0000025: the bar of "
        "0.000184 is within the noise of the draws, and smoothing hardly moves it (0.000188 with 0, 0.1 and 1 "
        "pseudo-answers a cell)."
    ),
}


def missed_reasons(checks: Iterable[Check]) -> dict[str, str]:
    """The reasons of those checks that were missed, by name.

    >>> missed_reasons([Check("mse: multispa-ds", "", "", reached=True)])
    {}
    """
    return {c.name: REASONS[c.name] for c in checks if c.reached is False and c.name in REASONS}
