"""The classes users fit; they choose the engine, call the method and hold the result."""
