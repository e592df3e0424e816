"""Subcommands of `python -m formats`, one module each. Adding a module here adds a command: nothing else lists them.

A module has `add_arguments(parser)`, `run(args) -> int`, and a docstring whose first line is its help.
"""
