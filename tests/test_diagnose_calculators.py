"""The calculators equal the paper's formulas, worked out by hand."""

from __future__ import annotations

import math

import pytest

from covote.diagnosis import calculators as c
from covote.errors import InputError


def test_annotators_for_anchors_is_theorem_2_with_its_constants():
    # K = 3, eps = 0.3, rho = 0.1: 1 + 2 / (3 * 0.3^4) * ln 30 = 1 + 82.3045 * 3.4012 = 280.93
    assert c.annotators_for_anchors(3, 0.3, 0.1) == 281
    # K = 2, eps = 0.5, rho = 0.05: 1 + 1 / (2 * 0.25) * ln 40 = 1 + 2 * 3.6889 = 8.38
    assert c.annotators_for_anchors(2, 0.5, 0.05) == 9


def test_annotators_for_scatter_is_theorem_4_with_its_constants():
    # K = 2, alpha = 1, eps = 0.25, rho = 0.05: 1 + 0.25 / (2 * 0.0625) * ln 40 = 1 + 2 * 3.6889 = 8.38
    assert c.annotators_for_scatter(2, 0.25, 0.05) == 9
    # K = 3, alpha = 2/3, eps = 0.1, rho = 0.1: 1 + 0.5 * 4 / (3 * 4/9 * 0.01) * ln 60 = 1 + 150 * 4.0943 = 615.15
    assert c.annotators_for_scatter(3, 0.1, 0.1) == 616
    # K = 4, alpha = 1/2, eps = 0.2, rho = 0.1: 1 + 1 * 9 / (4 * 0.0625 * 0.04) * ln 120 = 1 + 900 * 4.7875 = 4309.7
    assert c.annotators_for_scatter(4, 0.2, 0.1) == 4310


def test_shared_items_for_pairs_and_triples():
    # delta = 1/e: ln(1/delta) = 1, so S = (2 / 0.1)^2 = 400
    assert c.shared_items(0.1, math.exp(-1)) == pytest.approx(400, abs=1)
    # K = 2, delta = 2/e: ln(K/delta) = 1, so S = 2 * (2 / 0.1)^2 = 800
    assert c.shared_items_triple(0.1, 2, 2 / math.e) == pytest.approx(800, abs=1)
    assert c.items_needed(400, 0.1) == 40_000
    assert c.items_needed(400, 0.1, together=3) == 400_000
    assert c.items_needed(400, 1.0) == 400


def test_theorem_1_bound():
    # K = 2, kappa = 2, sigma = 1.5, S = 10^8, eta = 0.5, delta = 1/e, eps = 0.0001
    # noise = 2 * 2 / (10^4 * 0.5) = 0.0008; factor 1 + 80 * 4 = 321
    # error = (1.5 * sqrt 2 * 0.0001 + sqrt 2 * 0.0008) * 321 = 0.43126
    # tolerance = (1 / (sqrt 2 * 2)) * 0.25 / 321 - 0.0008 / 1.5 = 0.00027536 - 0.00053333 < 0
    found = c.anchor_bound(epsilon=1e-4, kappa=2, sigma_max=1.5, shared=1e8, eta=0.5, n_classes=2, failure=math.exp(-1))
    assert found.error == pytest.approx(0.43126, abs=1e-5)
    assert found.error == pytest.approx(found.from_anchors + found.from_counts)
    assert found.tolerance == pytest.approx(-0.00025797, abs=1e-7)
    assert not found.holds
    assert not found.says_something


@pytest.mark.parametrize("more", [{"shared": 4e8}, {"eta": 0.9}, {"epsilon": 0.0}, {"kappa": 1.5}])
def test_the_bound_falls_with_every_improvement(more):
    base = {"epsilon": 1e-4, "kappa": 2.0, "sigma_max": 1.5, "shared": 1e8, "eta": 0.5, "n_classes": 2}
    assert c.anchor_bound(**{**base, **more}).error < c.anchor_bound(**base).error


def test_nothing_shared_bounds_nothing():
    found = c.anchor_bound(epsilon=0.0, kappa=1.0, sigma_max=1.0, shared=0, eta=0.5, n_classes=2)
    assert found.error == math.inf
    assert not found.holds


def test_needs_grow_with_the_wish_and_triples_cost_more_than_pairs():
    assert c.shared_items(0.05) > c.shared_items(0.1)
    for k in (2, 3, 5, 10):
        assert c.shared_items_triple(0.1, k) > c.shared_items(0.1)
        assert c.annotators_for_scatter(k, 0.2) < c.annotators_for_scatter(k, 0.1)
    # Theorem 4 asks for fewer annotators than Theorem 2, which is its point
    for k in (3, 4, 5):
        assert c.annotators_for_scatter(k, 0.1) < c.annotators_for_anchors(k, 0.1)


def test_bad_wishes():
    with pytest.raises(InputError, match=r"^The formulas need at least two classes, got 1\.$"):
        c.annotators_for_anchors(1, 0.1)
    with pytest.raises(InputError, match=r"^distance is 0\.4, and must be above 0 and below 0\.333333\.$"):
        c.annotators_for_scatter(3, 0.4)
    with pytest.raises(InputError, match=r"^failure is 0, and must be above 0 and below 1\.$"):
        c.shared_items(0.1, 0)
    with pytest.raises(InputError, match=r"^answering is 1\.5, and must be above 0 and at most 1\.$"):
        c.items_needed(10, 1.5)
