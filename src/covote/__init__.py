"""covote."""
