"""MultiSPA (Algorithm 1): pair counts in, a model out, by linear algebra and no iteration over the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.methods.align import align_by_diagonal, align_by_pairs, class_names
from covote.methods.pair_sweeps import expected_pairs, pooled_sweep
from covote.methods.pooling import Crowd, Pooling, cautious, pooled_crowd
from covote.methods.shrinkage import Shrinkage
from covote.methods.simplex import simplex_least_squares, successive_projection
from covote.methods.trust import is_one_sided, trusted_blocks
from covote.model import FLOOR, Fit, Model, Status, columns, normalised

Floats = NDArray[np.float64]
Align = Literal["pairs", "diagonal"]

MIN_PARTNERS = 7
"""An annotator needs more trusted partners than this for SPA (the paper's 7K columns); fewer in small crowds."""

POOLING = Pooling()

POOLED_NOTE = (
    "The blocks of single pairs are too thin for SPA: the fit starts from the pooled co-occurrences of the crowd."
)
ONE_SIDED_NOTE = (
    "Most annotators give one label or none, as labelling functions do: the Dawid-Skene model does not fit them, and "
    "the labels follow the votes."
)

_TRIED = 10
_SWEEPS = 20
_FEW_PAIRS = 5000
_PAIRS_AT_A_TIME = 4096  # so that what is gathered for them stays in the cache
_ABOVE_ZERO = 1e-12  # a zero would stay zero under multiplicative updates


def multispa(
    counts: PairCounts,
    *,
    align: Align = "pairs",
    solve_again: bool = True,
    shrinkage: Shrinkage | None = None,
    floor: float = FLOOR,
    pooling: Pooling | None = POOLING,
) -> Fit:
    """Identify the Dawid-Skene model from pairwise co-occurrences.

    1. The model by vertices (`from_vertices`): Algorithm 1 of the paper.
    2. The model by pooling (`from_crowd`): everybody starts as the crowd's pooled co-occurrences show it.
    3. Thin blocks have false vertices. Whether they do is told by the pair counts themselves: both models are swept
       a few times, and the one that explains the pairs better is kept. `details["start"]` says which.
    4. Annotators of few answers borrow from the crowd (`cautious`).

    Without `pooling` the result is step 1 alone, and with `solve_again=False` it is Algorithm 1 to the letter.
    """
    if pooling is None:
        start = from_vertices(counts, align=align, solve_again=solve_again, shrinkage=shrinkage)
        assert start.model is not None
        return replace(start, scores=start.model.floored(floor).scores())
    crowd = pooled_crowd(counts)
    start = chosen_start(counts, crowd, pooling, align=align, solve_again=solve_again, shrinkage=shrinkage)
    assert start.model is not None
    if start.details["start"] == "votes":
        return start
    soft = expected_pairs(counts, start.model).confusion
    model = cautious(start.model, soft, counts.n_items, crowd, pooling)
    return replace(start, model=model, scores=model.floored(floor).scores())


def chosen_start(
    counts: PairCounts,
    crowd: Crowd,
    pooling: Pooling = POOLING,
    *,
    align: Align = "pairs",
    solve_again: bool = True,
    shrinkage: Shrinkage | None = None,
) -> Fit:
    """Steps 1 to 3 of `multispa`: the model that explains the pairs better, where iterative fits begin."""
    start = from_vertices(counts, align=align, solve_again=solve_again, shrinkage=shrinkage)
    assert start.model is not None
    if is_one_sided(counts.label_counts):
        model, details = _votes(counts, crowd), {**start.details, "start": "votes"}
        return Fit(model.scores(), model, Status.FALLBACK, notes=(ONE_SIDED_NOTE,), details=details)
    pooled = from_crowd(counts, crowd, pooling)
    nothing_found = start.status is Status.FALLBACK
    if nothing_found or _explains(counts, pooled, pooling) > _explains(counts, start.model, pooling):
        notes = start.notes if nothing_found else (*start.notes, POOLED_NOTE)
        details = {**start.details, "start": "pooled"}
        return replace(start, model=pooled, scores=pooled.scores(), notes=notes, details=details)
    named = start.model.permuted(class_names(start.model.confusion))  # solved matrices tell more than SPA's
    return replace(start, model=named, scores=named.scores(), details={**start.details, "start": "vertices"})


def from_vertices(
    counts: PairCounts, *, align: Align = "pairs", solve_again: bool = True, shrinkage: Shrinkage | None = None
) -> Fit:
    """Algorithm 1.

    1. Z_m: the trusted blocks of annotator m side by side, columns normalised (each first joined by K answers spread
       as m's own label frequencies, so that a column of two answers cannot pose as a vertex); SPA picks A_m.
    2. The matrices found are aligned with each other and the classes named (`align_by_pairs`, or the cheap
       `align_by_diagonal`).
    3. The prior: least squares of R_{m,l} = A_m D A_l^T over all pairs, within the simplex.
    4. Annotators too thin for SPA get the matrix that fits their blocks with those identified (end of the proof of
       Theorem 3); `solve_again` does the same once for everybody, so that A_m rests on all its blocks and not on K
       columns only. `shrinkage` (default: (K-1)^2 uninformative pseudo-answers) steadies these fits.
    5. Whoever shares no item with the rest gets the crowd's average matrix, and is named in the notes.
    """
    K = counts.n_classes
    trusted = counts.kept(trusted_blocks(counts))
    found = _identified(counts, trusted)
    notes, status = [], Status.DIRECT
    if found:
        aligned = align_by_pairs(found, trusted) if align == "pairs" else align_by_diagonal(found)
        prior = estimate_prior(counts, aligned)
    else:
        aligned, prior, status = _believed(counts), normalised(counts.label_counts.sum(axis=0)), Status.FALLBACK
        notes.append("No two annotators share enough items for co-occurrences: annotators are believed as they are.")
    pseudo = (shrinkage or Shrinkage(own=(K - 1) ** 2)).counts(counts.label_counts)
    confusion, stranded = _completed(counts, aligned, prior, pseudo)
    if solve_again and found:
        confusion = _solved_again(counts, confusion, prior, pseudo, stranded)
    if len(stranded) and found:
        notes.append(_stranded_note(counts, stranded))
    model = Model(prior, columns(confusion), counts.classes, counts.annotators)
    details = {"identified": np.array(sorted(found), dtype=np.int64), "stranded": stranded}
    return Fit(model.scores(), model, status, notes=tuple(notes), details=details)


def from_crowd(counts: PairCounts, crowd: Crowd, pooling: Pooling) -> Model:
    """Everybody as the crowd, then one sweep over the pairs to tell them apart."""
    model = Model(crowd.prior, _alike(counts, crowd.matrix), counts.classes, counts.annotators)
    return pooled_sweep(model, expected_pairs(counts, model), pooling)


def _votes(counts: PairCounts, crowd: Crowd) -> Model:
    """One matrix for all, with the crowd's accuracy on the diagonal: labels by it are those of the votes."""
    K = counts.n_classes
    right = min(max(float(np.diag(crowd.matrix) @ crowd.prior), 1.01 / K), 0.99)
    matrix = np.where(np.eye(K, dtype=bool), right, (1 - right) / max(K - 1, 1))
    return Model(np.full(K, 1 / K), _alike(counts, matrix), counts.classes, counts.annotators)


def _alike(counts: PairCounts, matrix: Floats) -> Floats:
    return np.repeat(matrix[None], counts.n_annotators, axis=0)


def _explains(counts: PairCounts, model: Model, pooling: Pooling) -> float:
    """Log-likelihood of the pairs a few sweeps from the model: its own place may be far from what it leads to."""
    for _ in range(_TRIED):
        model = pooled_sweep(model, expected_pairs(counts, model), pooling)
    return expected_pairs(counts, model).log_likelihood


def _identified(counts: PairCounts, trusted: PairCounts) -> dict[int, Floats]:
    """A_m up to column order for every annotator with enough trusted partners."""
    partners = np.bincount(np.concatenate([trusted.first, trusted.second]), minlength=counts.n_annotators)
    enough = min(MIN_PARTNERS, int(partners.max(initial=0)) - 1)
    found = {}
    for m in np.flatnonzero(partners > max(enough, 0)):
        frequency = normalised(counts.label_counts[m])
        found[int(m)] = spa_confusion(trusted.partners(int(m))[1], frequency)
    return found


def spa_confusion(blocks: Floats, frequency: Floats) -> Floats:
    """A_m up to column order from the blocks (T, K, K) of one annotator, by SPA on the columns of Z_m."""
    K = len(frequency)
    z = blocks.transpose(1, 0, 2).reshape(K, -1)  # (own labels, partners * their labels)
    total = z.sum(axis=0)
    z = (z + K * frequency[:, None]) / (total + K)
    return np.asarray(z[:, successive_projection(z, K)])


def estimate_prior(counts: PairCounts, aligned: dict[int, Floats]) -> Floats:
    """The prior d of R_{m,l} = A_m diag(d) A_l^T by least squares over all pairs of `aligned`, by shared items.

    Inverting A_m, as the paper writes it, is unstable for ill-conditioned matrices; this is not.
    """
    K = counts.n_classes
    matrices = np.zeros((counts.n_annotators, K, K))
    known = np.zeros(counts.n_annotators, bool)
    for m, a in aligned.items():
        matrices[m], known[m] = a, True
    both = np.flatnonzero(known[counts.first] & known[counts.second])
    overlap = matrices.transpose(0, 2, 1) @ matrices  # (annotators, classes, classes)
    gram, target = np.zeros((K, K)), np.zeros(K)
    for start in range(0, len(both), _PAIRS_AT_A_TIME):
        pair = both[start : start + _PAIRS_AT_A_TIME]
        one, other = counts.first[pair], counts.second[pair]
        gram += ((counts.shared[pair, None, None] * overlap[one]) * overlap[other]).sum(axis=0)
        target += (matrices[one] * (counts.blocks[pair] @ matrices[other])).sum(axis=(0, 1))
    size = max(float(counts.shared[both].sum()), 1e-300)
    return simplex_least_squares(gram / size, target / size)


def _believed(counts: PairCounts) -> dict[int, Floats]:
    """Half what annotators say, half their label frequencies: the start where nothing can be identified."""
    frequency = Shrinkage(own=1.0).counts(counts.label_counts)
    return dict(enumerate((np.eye(counts.n_classes) + frequency) / 2))


def _completed(
    counts: PairCounts, aligned: dict[int, Floats], prior: Floats, pseudo: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """Matrices for everybody: those aligned, then those who share items with them, and so on; codes of the stranded."""
    K, M = counts.n_classes, counts.n_annotators
    pooled = columns(np.mean(list(aligned.values()), axis=0)) if aligned else np.full((K, K), 1 / K)
    confusion = np.repeat(pooled[None], M, axis=0)
    known = np.zeros(M, bool)
    for m, a in aligned.items():
        confusion[m], known[m] = a, True
    waiting = np.flatnonzero(~known)
    while len(waiting):
        reached = []
        for m in waiting.tolist():
            found = _fitted(counts, m, confusion, prior, pseudo[m], known)
            if found is not None:
                confusion[m] = found
                reached.append(m)
        if not reached:
            break
        known[reached] = True
        waiting = np.flatnonzero(~known)
    return confusion, waiting


def _solved_again(
    counts: PairCounts, confusion: Floats, prior: Floats, pseudo: Floats, stranded: NDArray[np.int64]
) -> Floats:
    known = np.ones(counts.n_annotators, bool)
    known[stranded] = False
    new = confusion.copy()
    for m in np.flatnonzero(known).tolist():
        found = _fitted(counts, m, confusion, prior, pseudo[m], known)
        new[m] = confusion[m] if found is None else found
    return new


def _fitted(
    counts: PairCounts,
    m: int,
    confusion: Floats,
    prior: Floats,
    pseudo: Floats,
    known: NDArray[np.bool_],
) -> Floats | None:
    """The matrix of annotator m from its blocks with `known` partners, started at confusion[m]; None without any."""
    partners, blocks = counts.partners(m)
    use = known[partners]
    if not use.any():
        return None
    if not use.all():
        partners, blocks = partners[use], blocks[use]
    blocks *= counts.label_counts[m].sum() / blocks.sum()  # an answer counts once, not once a pair
    out: Floats = np.maximum(confusion[m], _ABOVE_ZERO)
    if counts.n_pairs <= _FEW_PAIRS:
        return _solved(blocks, confusion[partners], prior, pseudo, out)
    from covote.kernels import pairs

    pairs.solve_one(blocks, confusion[partners], prior, pseudo, _SWEEPS, out)
    return out


def _solved(blocks: Floats, others: Floats, prior: Floats, pseudo: Floats, confusion: Floats) -> Floats:
    """What the kernel `solve_one` does, in NumPy: for a small crowd quicker than to load the kernel."""
    K = len(prior)
    own = blocks.transpose(1, 0, 2).reshape(K, -1)  # (own labels, partners * their labels)
    theirs = (prior * others).reshape(-1, K).T  # (classes, partners * their labels)
    for _ in range(_SWEEPS):
        total = confusion @ theirs
        share = own / np.where(total > 0, total, np.inf)
        soft = pseudo + confusion * (share @ theirs.T)
        mass = soft.sum(axis=0)
        confusion = np.where(mass > 0, soft / np.where(mass > 0, mass, 1.0), confusion)
    return confusion


def _stranded_note(counts: PairCounts, stranded: NDArray[np.int64]) -> str:
    names = ", ".join(str(counts.annotators[m]) for m in stranded[:3]) + (", ..." if len(stranded) > 3 else "")
    who = "annotator shares" if len(stranded) == 1 else "annotators share"
    return f"{len(stranded)} {who} no item with the rest ({names}): they get the crowd's average matrix."
