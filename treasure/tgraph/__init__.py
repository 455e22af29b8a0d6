"""The T-Graph: what leads to targets, learned from examples or from the crawl itself."""
