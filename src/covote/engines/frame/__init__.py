"""The frame engine: a lazy frame of any library in, counts and frames of labels out; items never leave the library."""

from covote.engines.frame.engine import FrameEngine

__all__ = ["FrameEngine"]
