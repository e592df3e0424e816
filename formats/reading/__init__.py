"""What the parsers are written with: a cursor over a growing output, JSON by its own rules, and calls settled."""
