"""Treasure: a focused web crawler for Scrapy."""

import os

# Our matrices are small: threads of BLAS would take more time than they save, and the other core
# from whoever works there. Read when NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"
