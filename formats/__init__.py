"""The exact prompts, outputs and verdicts of chat templates, without a user interface."""
