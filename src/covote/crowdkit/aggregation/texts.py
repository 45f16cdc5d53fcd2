"""Texts of crowd-kit are not provided; every name says so when it is imported."""

from covote.crowdkit.absent import absent_module

__getattr__ = absent_module("crowdkit.aggregation.texts")
