"""Laws of the paper's baselines: recovery, invariance, class names, gold and weights, odd crowds, sentences."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from covote.annotations import load
from covote.annotations.value import Annotations, Vocabulary
from covote.engines.memory import MemoryEngine
from covote.errors import InputError, NotApplicableError
from covote.estimators.baselines import KOS, EigenRatio, GhoshSVD, MinmaxEntropy, SpectralDS, TensorADMM
from covote.methods.eigen_ratio import eigen_ratio
from covote.methods.ghosh_svd import ghosh_svd
from covote.methods.kos import kos
from covote.methods.minmax_entropy import minmax_entropy
from covote.methods.spectral_ds import spectral_ds
from covote.methods.tensor_admm import tensor_admm
from covote.model import Model, Status
from covote.score import confusion_mse, error_rate
from covote.simulate import draw
from crowds import draw_triples

BINARY = [eigen_ratio, ghosh_svd]
ANY = [kos, minmax_entropy, spectral_ds, tensor_admm]
MODELLED = [minmax_entropy, spectral_ds, tensor_admm]
FROM_COUNTS = [
    eigen_ratio,
    ghosh_svd,
    partial(spectral_ds, groupings=2, max_iter=6),
    partial(tensor_admm, starts=1, max_iter=6),
]
EVERY = [*BINARY, *ANY]


def posterior(fit, engine):
    return fit.posterior if fit.posterior is not None else engine.posterior(fit.scores)


def one_coin(right, n_classes, prior=None):
    """A model whose annotators are right with the given probabilities and err evenly."""
    right = np.asarray(right, dtype=float)[:, None, None]
    eye = np.eye(n_classes)
    confusion = right * eye + (1 - right) / (n_classes - 1) * (1 - eye)
    d = np.full(n_classes, 1 / n_classes) if prior is None else np.asarray(prior, dtype=float)
    return Model(d, confusion, tuple(range(n_classes)), tuple(range(len(right))))


def crowd(right, n_classes, n_items=600, answering=0.7, seed=0, prior=None):
    return draw(one_coin(right, n_classes, prior), n_items, answering=answering, seed=seed)


def coded(a, *, items=None, annotators=None, classes=None):
    """The same answers with codes moved: old code c becomes items[c], annotators[c], classes[c]."""
    keep = (np.arange(n) for n in (a.n_items, a.n_annotators, a.n_classes))
    i, m, k = (old if new is None else new for old, new in zip(keep, (items, annotators, classes), strict=True))
    return Annotations.from_codes(
        i[a.item],
        m[a.annotator],
        k[a.label],
        items=Vocabulary(np.arange(a.n_items)),
        annotators=Vocabulary(np.arange(a.n_annotators)),
        classes=Vocabulary(np.arange(a.n_classes)),
    )


GOOD = np.linspace(0.65, 0.95, 12)


@pytest.mark.parametrize(("method", "n_classes"), [(m, 2) for m in EVERY] + [(m, 3) for m in ANY])
def test_a_noiseless_crowd_is_labelled_without_error(method, n_classes):
    drawn = crowd(np.ones(8), n_classes, n_items=150, answering=0.6)
    engine = MemoryEngine(drawn.annotations)
    answered = np.diff(drawn.annotations.offsets) > 0
    assert error_rate(posterior(method(engine), engine)[answered], drawn.truth[answered]) == 0


@pytest.mark.parametrize(("method", "n_classes"), [(m, 2) for m in EVERY] + [(m, 3) for m in ANY])
def test_a_well_separated_crowd_is_labelled_nearly_as_well_as_by_the_true_model(method, n_classes):
    drawn = crowd(GOOD, n_classes, n_items=1000)
    engine = MemoryEngine(drawn.annotations)
    best = error_rate(engine.posterior(drawn.model.scores()), drawn.truth)
    assert error_rate(posterior(method(engine), engine), drawn.truth) <= best + 0.02


@pytest.mark.parametrize("method", MODELLED)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_confusions_of_a_well_separated_crowd_are_recovered(method, n_classes):
    drawn = crowd(
        GOOD, n_classes, n_items=2000, prior=np.linspace(1, 2, n_classes) / np.linspace(1, 2, n_classes).sum()
    )
    fit = method(MemoryEngine(drawn.annotations))
    assert confusion_mse(drawn.model, fit.model) < 0.004
    assert np.abs(fit.model.prior - drawn.model.prior).max() < 0.05


@pytest.mark.parametrize(("method", "n_classes"), [(m, 2) for m in EVERY] + [(m, 3) for m in ANY])
def test_labels_do_not_depend_on_the_names_of_annotators_nor_on_the_order_of_items(method, n_classes):
    a = crowd(GOOD, n_classes, n_items=400).annotations
    rng = np.random.default_rng(1)
    items, annotators = rng.permutation(a.n_items), rng.permutation(a.n_annotators)
    one, two = MemoryEngine(a), MemoryEngine(coded(a, items=items, annotators=annotators))
    before, after = posterior(method(one), one), posterior(method(two), two)
    # groupings are drawn by code, so the tensor methods start elsewhere and meet at the same optimum
    assert np.allclose(before, after[items], atol=1e-2 if method in (spectral_ds, tensor_admm) else 1e-4)


@pytest.mark.parametrize(("method", "n_classes"), [(m, 2) for m in EVERY] + [(m, 3) for m in ANY])
def test_labels_follow_the_classes_when_these_are_renamed(method, n_classes):
    a = crowd(GOOD, n_classes, n_items=400, prior=[0.3, 0.7] if n_classes == 2 else [0.2, 0.3, 0.5]).annotations
    # the threshold questions of kos need the order of classes, which may be turned round
    new = np.array([2, 1, 0] if method is kos else [1, 2, 0]) if n_classes == 3 else np.array([1, 0])
    one, two = MemoryEngine(a), MemoryEngine(coded(a, classes=new))
    before, after = posterior(method(one), one), posterior(method(two), two)
    assert np.allclose(before, after[:, new], atol=1e-2 if method in (spectral_ds, tensor_admm) else 1e-4)


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("seed", range(4))
def test_three_who_know_outweigh_nine_who_guess_and_labels_are_never_inverted(method, seed):
    drawn = crowd([0.95, 0.9, 0.9] + [0.5] * 9, 2, n_items=500, answering=0.8, seed=seed)
    engine = MemoryEngine(drawn.annotations)
    assert error_rate(posterior(method(engine), engine), drawn.truth) < 0.2


@pytest.mark.parametrize("method", EVERY)
def test_an_annotator_who_always_lies_is_heard_the_other_way_round(method):
    drawn = crowd([0.85, 0.85, 0.85, 0.85, 0.02], 2, n_items=800, answering=1.0)
    engine = MemoryEngine(drawn.annotations)
    assert error_rate(posterior(method(engine), engine), drawn.truth) < 0.03


@pytest.mark.parametrize("method", EVERY)
def test_parts_of_the_crowd_that_never_meet_are_each_labelled(method):
    here, there = crowd(GOOD[4:], 2, n_items=200, seed=1), crowd(GOOD[6:], 2, n_items=50, seed=2)
    a, b = here.annotations, there.annotations
    both = Annotations.from_codes(
        np.concatenate([a.item, b.item + a.n_items]),
        np.concatenate([a.annotator, b.annotator + a.n_annotators]),
        np.concatenate([a.label, b.label]),
    )
    engine = MemoryEngine(both)
    assert error_rate(posterior(method(engine), engine), np.concatenate([here.truth, there.truth])) < 0.06


@pytest.mark.parametrize(("method", "name"), [(eigen_ratio, "eigen-ratio"), (ghosh_svd, "ghosh-svd")])
def test_binary_methods_name_those_that_apply_to_more_classes(method, name):
    engine = MemoryEngine(load(draw_triples(0)).annotations)
    with pytest.raises(NotApplicableError) as error:
        method(engine)
    assert str(error.value) == (
        f"{name} works on two classes and these answers have 3. Use one of: majority-vote, multispa, multispa-kl, "
        "multispa-ds, mv-ds, spectral-ds, tensor-admm, kos, minmax-entropy."
    )


def test_a_regularisation_that_is_not_positive_is_refused():
    with pytest.raises(InputError) as error:
        MinmaxEntropy(gamma=0).fit(draw_triples(0))
    assert str(error.value) == (
        "gamma is 0, but the regularisation must be above 0. Pass a positive gamma, for example 0.25."
    )


def from_codes(item, annotator, label, shape):
    vocabularies = (Vocabulary(np.arange(n)) for n in shape)
    names = ("items", "annotators", "classes")
    codes = (np.asarray(x, dtype=np.int64) for x in (item, annotator, label))
    return Annotations.from_codes(*codes, **dict(zip(names, vocabularies, strict=True)))


ODD = {
    "one class": from_codes([0, 0, 1], [0, 1, 1], [0, 0, 0], (2, 2, 1)),
    "one annotator": from_codes([0, 1, 2], [0, 0, 0], [0, 1, 1], (3, 1, 2)),
    "two annotators": from_codes([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1], (2, 2, 2)),
    "nothing at all": from_codes([], [], [], (0, 0, 2)),
    "no answers": from_codes([], [], [], (3, 2, 2)),
    "silent annotators and bare items": from_codes([0, 0, 1], [0, 1, 1], [1, 1, 0], (4, 5, 2)),
    "nobody shares an item": from_codes([0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 0, 1], (4, 4, 2)),
    "one class answered": from_codes(np.repeat(np.arange(6), 3), np.tile(np.arange(3), 6), np.zeros(18), (6, 3, 2)),
    "opposites": from_codes(np.repeat(np.arange(6), 2), np.tile([0, 1], 6), np.tile([0, 1], 6), (6, 2, 2)),
}


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("name", ODD)
def test_odd_crowds_end_with_a_status_and_probabilities(method, name):
    engine = MemoryEngine(ODD[name])
    fit = method(engine)
    found = posterior(fit, engine)
    assert isinstance(fit.status, Status)
    assert found.shape == (engine.n_items, len(engine.classes))
    assert np.allclose(found.sum(axis=1), 1)
    assert np.all(np.isfinite(fit.scores.table))


@pytest.mark.parametrize("method", EVERY)
def test_an_item_nobody_else_knows_gets_the_label_it_was_given(method):
    engine = MemoryEngine(ODD["nobody shares an item"])
    assert posterior(method(engine), engine).argmax(axis=1).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("method", [kos, minmax_entropy, spectral_ds, tensor_admm, ghosh_svd, eigen_ratio])
def test_counting_every_item_twice_is_having_it_twice(method):
    a = crowd(GOOD[:6], 2, n_items=60).annotations
    twice = Annotations.from_codes(
        np.concatenate([a.item, a.item + a.n_items]), np.tile(a.annotator, 2), np.tile(a.label, 2)
    )
    weighted, doubled = MemoryEngine(a, weight=np.full(a.n_items, 2.0)), MemoryEngine(twice)
    one, two = posterior(method(weighted), weighted), posterior(method(doubled), doubled)
    # minimax entropy regularises items by their number: the same scaling holds only roughly
    assert np.allclose(one, two[: a.n_items], atol=0.15 if method is minmax_entropy else 1e-4)


@pytest.mark.parametrize("estimator", [KOS(), MinmaxEntropy(), SpectralDS(), TensorADMM(), EigenRatio(), GhoshSVD()])
def test_estimators_take_gold_and_label_new_items(estimator):
    drawn = crowd(GOOD, 2, n_items=120)
    rows = [(int(i), int(m), ("no", "yes")[x]) for i, m, x in zip(
        drawn.annotations.item, drawn.annotations.annotator, drawn.annotations.label, strict=True)]  # fmt: skip
    labels = estimator.fit_predict(rows, gold={0: "no", 1: "yes"})
    assert (labels[0], labels[1]) == ("no", "yes")
    new = estimator.predict([("fresh", 10, "yes"), ("fresh", 11, "yes"), ("other", 11, "no")])
    assert new == {"fresh": "yes", "other": "no"}


def test_the_tensor_methods_say_when_the_moments_are_singular():
    engine = MemoryEngine(ODD["opposites"])
    fit = spectral_ds(engine)
    assert fit.status is Status.FALLBACK
    assert fit.notes == (
        "The moments of annotator groups are singular (too few annotators, shared items or classes in use): EM started "
        "from vote shares.",
    )


@pytest.mark.parametrize("method", [spectral_ds, tensor_admm])
def test_the_same_seed_gives_the_same_bits(method):
    engine = MemoryEngine(crowd(GOOD, 3, n_items=200).annotations)
    assert np.array_equal(method(engine, seed=3).scores.table, method(engine, seed=3).scores.table)
