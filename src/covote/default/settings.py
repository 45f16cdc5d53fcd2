"""Settings: every number that decides a result of the default, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

POWERS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0)
"""Powers that are tried on held-out answers: a grid of effort, not a setting."""


@dataclass(frozen=True)
class Settings:
    """The ten numbers of the default. `python -m benchmarks.accuracy` judges them with whole families left out."""

    rounds: int = 6
    """Rounds of EM in each of the two stages. Five to sixty rounds differ by half a point; few rounds run away less."""
    hard_share: float = 0.1
    """Share of hard items where EM starts; it is estimated from there."""
    class_prior: float = 10.0
    """Pseudo-answers added to every class of the pooled matrix, as the crowd answers on average: more than the answers
    to one item, so that a label that occurs once cannot explain its own item."""
    doubt: float = 1.0
    """Standard errors by which held-out answers must speak against the model before votes get a say: the usual rule
    of one standard error."""
    vote_weight: float = 2.0
    """Weight of the votes where the model has none. Learnt: `python -m benchmarks.accuracy --learn`."""
    floor: float = 0.6
    """Mass spread over all classes before logs are taken, where the model has no weight. Learnt with `vote_weight`."""
    least_floor: float = 0.01
    """The same where the model has all the weight: no label is surer than about 99 %."""
    skill_power: float = 2.0
    """Votes are weighted by the annotator's skill to this power: a judge at half the skill counts a quarter."""
    skill_trust: float = 0.25
    """Power of the model from which on skills are trusted in full; below it votes become equal."""
    copy_evidence: float = 20.0
    """Two annotators count as one when they disagree this many times less often than either does with everybody, and
    at least this many disagreements were to be expected."""


DEFAULT = Settings()
