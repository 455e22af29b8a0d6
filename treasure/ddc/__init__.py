"""Knowing what a text is about: D-numbers, the lexicon, the galaxy, the judge."""
