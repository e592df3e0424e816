"""The page in a real browser; a package, so that what its tests share ends with them."""
