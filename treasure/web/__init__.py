"""The web page of a repository."""
