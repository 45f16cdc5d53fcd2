"""The default's two sums, slow and obvious: the pool of one item, and answers held out one by one."""

from __future__ import annotations

import math


def softmax(logs):
    top = max(logs)
    parts = [math.exp(x - top) for x in logs]
    return [p / sum(parts) for p in parts]


def naive_pool(answers, scores):
    """Probabilities of an item with answers [(annotator, label)]."""
    pool, K = scores.pool, len(scores.bias)
    prior = [math.exp(b) for b in scores.bias]
    if not answers:
        return prior
    states = [math.log(1 - pool.hard_share) + scores.bias[k] for k in range(K)]
    states.append(math.log(pool.hard_share) if pool.hard_share > 0 else -math.inf)
    votes = [0.0] * K
    for m, label in answers:
        for k in range(K):
            states[k] += scores.table[m, label, k]
        states[K] += pool.hard[m, label]
        votes[label] += pool.votes[m]
    p = softmax(states)
    model = [p[k] + p[K] * prior[k] for k in range(K)]
    share = [v / sum(votes) if sum(votes) > 0 else 1 / K for v in votes]
    e = pool.floor
    return softmax(
        [
            pool.model_weight * math.log((1 - e) * model[k] + e / K)
            + pool.vote_weight * math.log((1 - e) * share[k] + e / K)
            for k in range(K)
        ]
    )


def naive_heldout(items, question):
    """Log-probability of every answer of [[(annotator, label)]] given the others, by item and power."""
    K = len(question.prior)
    rows = []
    for answers in items:
        if len(answers) < 2:
            continue
        table, bias = question.scores.table, question.scores.bias
        whole = softmax([bias[j] + sum(table[m, lab, j] for m, lab in answers) for j in range(len(bias))])
        row = [0.0] * len(question.powers)
        for i, (m, label) in enumerate(answers):
            s = question.strength[m]
            mine = [
                (max(question.counts[m, label, k] - whole[k], 0.0) + s * question.pooled[label, k])
                / (max(question.counts[m, :, k].sum() - whole[k], 0.0) + s)
                for k in range(K)
            ]
            others = [a for j, a in enumerate(answers) if j != i]
            for t, power in enumerate(question.powers):
                q = softmax([question.prior[k] + power * sum(table[o, lab, k] for o, lab in others) for k in range(K)])
                row[t] += math.log(sum(q[k] * mine[k] for k in range(K)))
        rows.append(row)
    return rows
