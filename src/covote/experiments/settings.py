"""Which methods an experiment runs, with which options: one setting for all data sets of an experiment."""

from __future__ import annotations

from typing import Any

METHODS = (
    "multispa",
    "multispa-kl",
    "multispa-ds",
    "spectral-ds",
    "tensor-admm",
    "mv-ds",
    "minmax-entropy",
    "eigen-ratio",
    "kos",
    "ghosh-svd",
    "majority-vote",
)
"""All methods, in the order of the paper's tables."""

BINARY_ONLY = frozenset({"eigen-ratio", "ghosh-svd"})

MODEL_METHODS = METHODS[:6]
"""Those that identify the Dawid-Skene model."""

BAYES, COUNTED, BEST, WORST = "bayes-rule", "truth-known", "single-best", "single-worst"
"""References: labels by the true model; matrices counted from the true classes; the best and the worst annotator."""

REFERENCES = (BAYES, COUNTED, BEST, WORST)

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    # Our three run as a user gets them by their names; mv-ds as far as the paper and its code tell: ten rounds
    # without a class prior.
    "paper": {"mv-ds": {"max_iter": 10, "accelerate": False, "prior": "uniform", "smoothing": 0.0, "diagonal": 0.0}},
    # What a user gets who passes no option.
    "default": {},
    # To find a drawn model again: half of the drawn annotators are worse than chance, so nothing is believed of them
    # beforehand; the KL criterion is the paper's own.
    "recovery": {
        "multispa-kl": {"smoothing": 0.0},
        "multispa-ds": {"smoothing": 0.1, "diagonal": 0.0},
        "spectral-ds": {"smoothing": 0.3, "diagonal": 0.0},  # a column: 0.1 a cell, as above
        "tensor-admm": {"smoothing": 0.0},
        "mv-ds": {"smoothing": 0.1, "diagonal": 0.0},
    },
}
"""Options of each method by the name of the preset; a method that is not named runs with its defaults."""
