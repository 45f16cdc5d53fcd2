"""Explanation: what the default did and why, as values and as sentences."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

_SHOWN = 12  # names in a sentence


@dataclass(frozen=True)
class Explanation:
    """What the default found in a crowd, and what its labels rest on."""

    method: str  # "pool", "votes" or "labelling functions"
    sentence: str
    start: str = "votes"  # where EM started: "votes" or "co-occurrences"
    power: float = 1.0  # weight of the model in the pool; the rest goes to the votes
    strength: float = 0.0  # pseudo-answers per class by which every matrix is shrunk to the pooled one
    hard_share: float = 0.0  # share of items whose answers say nothing about their class
    heldout: float | None = None  # mean log-probability of a held-out answer, in nats
    heldout_full: float | None = None  # the same had the model all the weight
    groups: tuple[tuple[Hashable, ...], ...] = ()  # annotators whose answers count as one
    given: bool = False  # whether the user named the groups

    def explain(self) -> tuple[str, ...]:
        """The whole story, one sentence per line."""
        if self.method != "pool":
            return (self.sentence,)
        return (self.sentence, *self._model(), *self._trust(), *self._groups())

    def _model(self) -> tuple[str, ...]:
        lines = [
            f"EM started from {self.start}.",
            f"Every annotator's matrix is shrunk to the crowd's pooled matrix by {self.strength:.1f} pseudo-answers "
            "per class.",
        ]
        if self.hard_share >= 0.005:
            lines.append(f"About {100 * self.hard_share:.0f} % of the items are hard: their answers tell no class.")
        return tuple(lines)

    def _trust(self) -> tuple[str, ...]:
        if self.heldout is None or self.heldout_full is None:
            return ()
        if self.power == 1:
            return ("Held-out answers do not speak against independent annotators: the model has all the weight.",)
        return (
            f"The model has weight {self.power:.2f}, votes the rest: held-out answers get {self.heldout:.3f} nats each "
            f"that way, {self.heldout_full:.3f} if annotators were independent.",
        )

    def notices(self) -> tuple[str, ...]:
        """What a user should know even without asking for an explanation: annotators who count as one."""
        return () if self.given else self._groups()

    def _groups(self) -> tuple[str, ...]:
        why = "as you said" if self.given else "they almost never disagree, though independent annotators would"
        return tuple(f"{_names(group)} count as one annotator: {why}." for group in self.groups)


def _names(group: tuple[Hashable, ...]) -> str:
    more = ", ..." if len(group) > _SHOWN else ""
    return f"{len(group)} annotators ({', '.join(map(str, group[:_SHOWN]))}{more})"
