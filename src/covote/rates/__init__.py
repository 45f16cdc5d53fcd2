"""The share of items of a class with an honest interval, from judges and a few gold labels."""

from covote.rates.difference import Difference, Items
from covote.rates.estimate import Estimate, Settings
from covote.rates.measure import measure_rate
from covote.rates.value import Rate, Share

__all__ = ["Difference", "Estimate", "Items", "Rate", "Settings", "Share", "measure_rate"]
