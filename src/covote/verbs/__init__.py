"""What `covote.<name>` and the commands call: any table in, one value out."""
