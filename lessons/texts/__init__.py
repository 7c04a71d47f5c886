"""Texts in the learner's language: which language that is, and what its translators have written."""
