"""Choice: what the default method did and why, as values and as sentences."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

_SHOWN = 12  # names in a sentence


@dataclass(frozen=True)
class Candidate:
    """One model considered: how well it predicts answers it has not seen, and its part in the result."""

    name: str
    about: str
    heldout: float | None  # mean log-probability of a held-out answer, in nats; None when it was not asked
    share: float  # weight in the result; the shares of all candidates sum to 1


@dataclass(frozen=True)
class Copies:
    """Annotators who copy each other, and the independent votes they count as together."""

    annotators: tuple[Hashable, ...]
    votes: float

    @property
    def sentence(self) -> str:
        shown = ", ".join(str(name) for name in self.annotators[:_SHOWN])
        more = ", ..." if len(self.annotators) > _SHOWN else ""
        return (
            f"{len(self.annotators)} annotators answer like one another ({shown}{more}): together they count as "
            f"{self.votes:.1f} votes."
        )


@dataclass(frozen=True)
class Choice:
    """What was chosen, from what, and what was noticed on the way."""

    sentence: str
    candidates: tuple[Candidate, ...]
    guards: tuple[str, ...] = ()  # sentences, one for each guard that fired
    start: str = "votes"  # where EM started: "votes" or "co-occurrences"
    temperature: float = 1.0  # mean power that softens the posteriors; 1 leaves them as they are
    shared: float = 1.0  # probability that annotators err together, beyond what independence allows
    heldout_answers: int = 0
    misleading: float = 0.0  # share of items found to mislead the crowd
    dependent_pairs: int = 0  # pairs of annotators that agree beyond the model
    worth: float = 1.0  # independent answers that an answer is worth, on average
    copies: tuple[Copies, ...] = ()  # groups of annotators who copy each other

    @property
    def chosen(self) -> str:
        """Name of the candidate with the largest share."""
        return max(self.candidates, key=lambda c: c.share).name

    def explain(self) -> tuple[str, ...]:
        """The whole story, a sentence a line."""
        guards = (guard for guard in self.guards if guard != self.sentence)
        return (self.sentence, *guards, *self._candidates(), *self._findings())

    def _candidates(self) -> tuple[str, ...]:
        lines = []
        for c in sorted(self.candidates, key=lambda c: -c.share):
            seen = "" if c.heldout is None else f", held-out answers {c.heldout:.4f} nats each"
            lines.append(f"{100 * c.share:.0f} % {c.name}: {c.about}{seen}.")
        return tuple(lines)

    def _findings(self) -> tuple[str, ...]:
        lines = []
        if self.heldout_answers:
            lines.append(f"EM started from {self.start}; {self.heldout_answers:,} answers were held out.")
        lines += [group.sentence for group in self.copies]
        if self.dependent_pairs:
            pairs = "pair of annotators agrees" if self.dependent_pairs == 1 else "pairs of annotators agree"
            lines.append(
                f"{self.dependent_pairs:,} {pairs} beyond the model: an answer counts as {self.worth:.2f} independent "
                "ones."
            )
        if self.misleading >= 0.01:
            lines.append(f"About {100 * self.misleading:.0f} % of the items mislead annotators together.")
        if self.heldout_answers:
            lines.append(
                f"Annotators err together with probability {self.shared:.2f}, judged by crowds drawn from the model."
            )
        if self.temperature < 1:
            lines.append(f"Probabilities are softened to the power {self.temperature:.2f} on average.")
        return tuple(lines)
