"""Which item to give to which annotator next: answers so far and a budget in, assignments with reasons out."""

from covote.planning.planner import plan_answers
from covote.planning.request import Request
from covote.planning.value import Aim, Assignment, Plan

__all__ = ["Aim", "Assignment", "Plan", "Request", "plan_answers"]
