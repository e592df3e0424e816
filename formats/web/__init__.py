"""The page: it shows values that the rest of the package computes, and nothing else in the package needs it."""
