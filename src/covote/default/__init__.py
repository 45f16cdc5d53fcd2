"""The default: one hierarchical Dawid-Skene model, joined with votes as far as held-out answers ask for it."""
