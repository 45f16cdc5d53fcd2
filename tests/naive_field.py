"""Slow, obvious versions of the methods the field uses: plain loops over (item, annotator, label) triples."""

from __future__ import annotations

import math
from collections import defaultdict

from scipy.special import digamma
from tests.naive import by_item


def agreement(triples, weight, classes):
    """Share of each annotator's answers that are the label of most weight; tied labels share the credit."""
    hits, answers = defaultdict(float), defaultdict(int)
    for given in by_item(triples).values():
        votes = dict.fromkeys(classes, 0.0)
        for annotator, label in given.items():
            votes[label] += weight[annotator]
        best = [c for c in classes if votes[c] >= max(votes.values()) - 1e-9]
        for annotator, label in given.items():
            hits[annotator] += (label in best) / len(best)
            answers[annotator] += 1
    return {a: hits[a] / answers[a] for a in answers}


def zero_based(triples, classes, rounds=100):
    skill, rate = {a: 1 / len(classes) + 1e-5 for _, a, _ in triples}, 1.0
    for turn in range(1, rounds + 1):
        rate *= 0.5 if turn % 20 == 0 else 1.0
        found = agreement(triples, skill, classes)
        skill = {a: skill[a] + rate * (found[a] - skill[a]) for a in skill}
    return skill


def iterated(triples, classes, rounds=100):
    weight = {a: 1.0 for _, a, _ in triples}
    for _ in range(rounds):
        weight = {a: len(classes) * share - 1 for a, share in agreement(triples, weight, classes).items()}
    return weight


def posterior(triples, chance, prior, classes):
    """{item: [probability]} where chance(item, annotator, label, k) is Pr(label given class k)."""
    out = {}
    for item, given in by_item(triples).items():
        parts = [prior[k] for k in range(len(classes))]
        for annotator, label in given.items():
            parts = [p * chance(item, annotator, label, k) for k, p in enumerate(parts)]
        out[item] = [p / sum(parts) for p in parts]
    return out


def shares(triples, classes):
    out = {}
    for item, given in by_item(triples).items():
        out[item] = [sum(label == c for label in given.values()) / len(given) for c in classes]
    return out


def one_coin(triples, classes, rounds):
    """Accuracies and posteriors after rounds of plain EM from vote shares."""
    K, belief = len(classes), shares(triples, classes)
    for _ in range(rounds + 1):
        hits, answers = defaultdict(float), defaultdict(int)
        for item, given in by_item(triples).items():
            for annotator, label in given.items():
                hits[annotator] += belief[item][classes.index(label)]
                answers[annotator] += 1
        skill = {a: min(max(hits[a] / answers[a], 1e-10), 1 - 1e-10) for a in answers}
        prior = [sum(b[k] for b in belief.values()) / len(belief) for k in range(K)]

        def chance(_, annotator, label, k, skill=skill):
            return skill[annotator] if classes[k] == label else (1 - skill[annotator]) / (K - 1)

        belief = posterior(triples, chance, prior, classes)
    return skill, belief


def ibcc(triples, annotators, classes, rounds, smoothing=1.0, diagonal=3.0):
    """Posteriors after rounds of variational Bayes from vote shares."""
    K, belief = len(classes), shares(triples, classes)
    for _ in range(rounds):
        count = {a: [[smoothing + diagonal * (i == k) for k in range(K)] for i in range(K)] for a in annotators}
        mass = [1.0 + sum(b[k] for b in belief.values()) for k in range(K)]
        for item, given in by_item(triples).items():
            for annotator, label in given.items():
                for k in range(K):
                    count[annotator][classes.index(label)][k] += belief[item][k]
        prior = [math.exp(digamma(m) - digamma(sum(mass))) for m in mass]

        def chance(_, annotator, label, k, count=count):
            column = [row[k] for row in count[annotator]]
            return math.exp(digamma(column[classes.index(label)]) - digamma(sum(column)))

        belief = posterior(triples, chance, prior, classes)
    return belief


def mace_round(triples, knows, habit, classes, spams=0.5, known=0.5, prior=10.0):
    """One E and M step of variational MACE: {annotator: (spam, knowledge)} and {annotator: [habit]} in and out."""

    def chance(_, annotator, label, k):
        own = habit[annotator][classes.index(label)]
        return knows[annotator][0] * own + knows[annotator][1] * (classes[k] == label)

    K = len(classes)
    belief = posterior(triples, chance, [1 / K] * K, classes)
    spam, knew = {a: [prior] * K for a in knows}, dict.fromkeys(knows, known)
    for item, given in by_item(triples).items():
        for annotator, label in given.items():
            i = classes.index(label)
            for k in range(K):
                share = knows[annotator][0] * habit[annotator][i] / chance(item, annotator, label, k)
                spam[annotator][i] += belief[item][k] * share
                knew[annotator] += belief[item][k] * (1 - share) if k == i else 0.0
    new_knows, new_habit = {}, {}
    for a in knows:
        pair = [spams + sum(spam[a]) - K * prior, knew[a]]
        new_knows[a] = tuple(math.exp(digamma(p) - digamma(sum(pair))) for p in pair)
        new_habit[a] = [math.exp(digamma(s) - digamma(sum(spam[a]))) for s in spam[a]]
    return new_knows, new_habit, belief


def bwa(triples, classes, a=15.0, pull=1.0):
    """Scores of classes for every item: each class against the rest."""
    table, scores = by_item(triples), {}
    for c in classes:
        z = {i: sum(x == c for x in given.values()) / len(given) for i, given in table.items()}
        total = sum(len(given) for given in table.values())
        b = a * sum(len(table[i]) * z[i] * (1 - z[i]) for i in table) / total * 4 * (1 - 1 / len(classes))
        for _ in range(500):
            mean = sum(z.values()) / len(z)
            misfit, answers = defaultdict(float), defaultdict(int)
            for i, given in table.items():
                for annotator, label in given.items():
                    misfit[annotator] += ((label == c) - z[i]) ** 2
                    answers[annotator] += 1
            v = {m: (a + answers[m]) / (b + misfit[m]) for m in answers}
            new = {
                i: (pull * mean + sum(v[m] for m, x in given.items() if x == c)) / (pull + sum(v[m] for m in given))
                for i, given in table.items()
            }
            still = all(abs(z[i] - new[i]) <= 1e-8 + 1e-3 * abs(new[i]) for i in z)
            z = new
            if still:
                break
        for i, value in z.items():
            scores.setdefault(i, []).append(value)
    return scores
