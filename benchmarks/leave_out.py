"""How the default's settings were chosen: data sets in; settings chosen on some and scored on others, and ablations, out.

Everything here fits with the library's own pieces; only the constants differ from those that are shipped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from covote.engines.memory import MemoryEngine
from covote.methods import calibrate
from covote.methods.effective import PARTNERS, copying, dependence
from covote.methods.family import FAMILY, MIDDLE, fit_member, start_from
from covote.methods.heldout import forecast, hold_out
from covote.methods.learn import LEAST, MORE_ROUNDS, MOST, TRUST, relative_information
from covote.methods.majority_vote import vote_scores
from covote.methods.misleading import Misleading
from covote.methods.redrawn import shared_errors
from covote.model import columns, normalised
from covote.score import calibration_error, error_rate, log_loss

PULLS = (0.1, 0.2, 0.3)
SCALES = (0.5, 1.0, 2.0)  # of the strength of all shrinkage
TRUSTS = (5.0, 10.0, 20.0)
CONSTANTS = (1.0, 1.2, 1.4, 1.6)
EXPONENTS = (0.0, 0.1, 0.2, 0.3)
SHIPPED = (0.2, 1.0, TRUST, calibrate.UNSEEN, calibrate.ALIKE)


@dataclass(frozen=True, eq=False)
class Fits:
    """All members fitted to one crowd under one (pull, scale), with what calibration needs."""

    posteriors: list
    forecasts: list
    models: list
    answers: np.ndarray
    claimed: np.ndarray
    shared: float
    truth: np.ndarray


def fit_all(data, pull, scale, *, effective=True, prior=None):
    """As `covote.methods.learn.learn` does, from votes, but every member is fitted."""
    engine = MemoryEngine(data.annotations.annotations)
    members = [replace(m, strength=m.strength * scale) for m in FAMILY]
    middle = replace(MIDDLE, strength=MIDDLE.strength * scale)
    answers, counts = engine.label_counts().sum(axis=1), engine.pair_counts(PARTNERS)
    copied = copying(counts).weight if effective else np.ones(len(answers))
    sizes = (len(engine.annotators), len(engine.classes))
    votes = engine.expected_counts(vote_scores(*sizes, copied))
    base = fit_member(engine, middle, start_from(engine, votes, middle), prior=prior, weight=copied)
    found = dependence(counts, engine.expected_counts(base.scores)).weight
    weight = np.minimum(copied, found) if effective else copied
    look = replace(Misleading.seen_by(base.model, answers), pull=pull) if pull else None
    options = {"prior": prior, "weight": weight, "misleading": look, "rounds": MORE_ROUNDS}
    held = hold_out(engine, base.model.informativeness)
    part = held.engine.expected_counts(vote_scores(*sizes, copied))
    begin = fit_member(held.engine, middle, start_from(held.engine, part, middle), prior=prior, weight=weight).model
    forecasts = [forecast(held, fit_member(held.engine, m, begin, **options)) for m in members]
    fits = [fit_member(engine, m, base.model, **options) for m in members]
    claimed = calibrate.claimed_information(engine.annotations, weight * relative_information(base.model))
    posteriors = [f.posterior(engine) for f in fits]
    shared = shared_errors(engine, base.model, weight, prior)
    return Fits(posteriors, forecasts, [f.model for f in fits], answers, claimed, shared, data.truth_codes)


def mixed(fits, trust, constant, exponent, *, most=MOST, shared=None):
    """Probabilities under the settings, and with `exponent` None unsoftened ones."""
    scores = np.array([f.log_probability for f in fits.forecasts])
    shares = normalised(np.exp(trust * (scores - scores.max())))
    shares = normalised(np.where(shares < max(LEAST, np.sort(shares)[-most]), 0.0, shares))
    confusion = columns(sum(s * m.confusion for s, m in zip(shares, fits.models, strict=True)))
    prior = sum(s * m.prior for s, m in zip(shares, fits.models, strict=True))
    skill = calibrate.skill_share(np.einsum("mkk,k->m", confusion, prior), fits.answers)
    heldout = calibrate.heldout_temperature(fits.forecasts, shares.tolist())
    power = np.ones(len(fits.claimed))
    if exponent is not None:
        together = constant * skill**exponent * np.sqrt(heldout / (1 + fits.claimed))
        power = together ** (fits.shared if shared is None else shared)
    out = np.zeros_like(fits.posteriors[0])
    for p, share in zip(fits.posteriors, shares.tolist(), strict=True):
        if share:
            calibrate.tempered(p, power, share, out)
    return out


def scored(p, truth):
    return 100 * error_rate(p, truth), log_loss(p, truth), calibration_error(p, truth)


def score_settings(data):
    """(settings, sets, 3): error, log-loss and calibration error of every setting on every set."""
    settings, values = [], []
    for pull, scale in product(PULLS, SCALES):
        fits = {name: fit_all(d, pull, scale) for name, d in data.items()}
        for trust, constant, exponent in product(TRUSTS, CONSTANTS, EXPONENTS):
            settings.append((pull, scale, trust, constant, exponent))
            values.append([scored(mixed(f, trust, constant, exponent), f.truth) for f in fits.values()])
        print(f"pull {pull}, scale {scale}: done", flush=True)
    return settings, np.array(values)


def leave_out_table(data, votes):
    """For every set: the setting of least mean log-loss on the others, and how it does on the set."""
    settings, values = score_settings(data)
    shipped = values[settings.index(SHIPPED)]
    rows, chosen_values = [], []
    for place, name in enumerate(data):
        others = np.delete(np.arange(len(data)), place)
        chosen = int(values[:, others, 1].mean(axis=1).argmin())
        chosen_values.append(values[chosen, place])
        rows.append([name, _setting(settings[chosen]), *_cells(values[chosen, place]), *_cells(shipped[place])])
    chosen_values = np.array(chosen_values)
    rows.append(["**mean**", "", *_cells(chosen_values.mean(axis=0)), *_cells(shipped.mean(axis=0))])
    gap = [max(v[:, 0] - votes) for v in (chosen_values, shipped)]
    rows.append(["worst against majority vote", "", f"{gap[0]:+.2f}", "", "", f"{gap[1]:+.2f}", "", ""])
    spread = values[:, :, :].mean(axis=1)
    around = (
        f"Over all {len(settings)} settings the mean error runs from {spread[:, 0].min():.2f} to {spread[:, 0].max():.2f}, "
        f"the mean log-loss from {spread[:, 1].min():.3f} to {spread[:, 1].max():.3f} and the mean calibration error from "
        f"{spread[:, 2].min():.3f} to {spread[:, 2].max():.3f}."
    )
    head = [
        "left out",
        "chosen on the others",
        "error",
        "log-loss",
        "calibration",
        "shipped: error",
        "log-loss",
        "calibration",
    ]
    return _table(head, rows), around


def ablation_table(data, votes):
    """The default with one idea taken away at a time."""
    pull, scale, trust, constant, exponent = SHIPPED
    uniform = {name: np.full(d.annotations.annotations.n_classes, 1 / d.annotations.annotations.n_classes) for name, d in data.items()}  # fmt: skip
    whole = {name: fit_all(d, pull, scale) for name, d in data.items()}
    rows = {
        "as shipped": {n: mixed(f, trust, constant, exponent) for n, f in whole.items()},
        "best member only": {n: mixed(f, trust, constant, exponent, most=1) for n, f in whole.items()},
        "all members alike": {n: mixed(f, 0.0, constant, exponent, most=5) for n, f in whole.items()},
        "no misleading items": {n: mixed(fit_all(d, 0.0, scale), trust, constant, exponent) for n, d in data.items()},
        "no effective votes": {n: mixed(fit_all(d, pull, scale, effective=False), trust, constant, exponent) for n, d in data.items()},
        "uniform class prior": {n: mixed(fit_all(d, pull, scale, prior=uniform[n]), trust, constant, exponent) for n, d in data.items()},
        "softened as if errors were always shared": {n: mixed(f, trust, constant, exponent, shared=1.0) for n, f in whole.items()},
        "no softening": {n: mixed(f, trust, 1.0, None) for n, f in whole.items()},
    }  # fmt: skip
    out = []
    for label, found in rows.items():
        values = np.array([scored(p, data[n].truth_codes) for n, p in found.items()])
        against = values[:, 0] - votes
        worst = list(data)[int(against.argmax())]
        out.append([label, *_cells(values.mean(axis=0)), f"{against.max():+.2f} ({worst})"])
    return _table(["", "mean error", "log-loss", "calibration", "worst against majority vote"], out)


def tables(data, rules):
    """The sections of the page."""
    several = {n: d for n, d in data.items() if n not in rules}
    votes = np.array([_vote_error(d) for d in several.values()])
    left_out, around = leave_out_table(several, votes)
    return [
        "### Settings chosen on the other sets",
        "Every setting is fitted from votes, without starts from co-occurrences and without groups of copies, so "
        "the columns of the shipped settings differ by a hair from the tables above.",
        left_out, around,
        "### What each idea is worth", ablation_table(several, votes),
    ]  # fmt: skip


def _vote_error(data):
    engine = MemoryEngine(data.annotations.annotations)
    shares = engine.posterior(vote_scores(len(engine.annotators), len(engine.classes)))
    return 100 * error_rate(shares, data.truth_codes)


def _setting(s):
    return f"pull {s[0]:g}, strength x {s[1]:g}, trust {s[2]:g}, constant {s[3]:g}, exponent {s[4]:g}"


def _cells(v):
    return f"{v[0]:.2f}", f"{v[1]:.3f}", f"{v[2]:.3f}"


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
