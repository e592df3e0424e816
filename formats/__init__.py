"""The exact prompts, outputs and verdicts of chat templates, without a user interface."""

import os

# Prompts need no torch, so transformers' notice that it is absent would only alarm people.
os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")

__version__ = "0.1.0"  # pyproject.toml says the same
