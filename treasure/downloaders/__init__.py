"""Download handlers: where pages come from. addon.py says which is on."""
