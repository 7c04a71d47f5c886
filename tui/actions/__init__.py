"""What a learner can do with a key: one table, and what is made from it (bindings, key lines, help, the README)."""
