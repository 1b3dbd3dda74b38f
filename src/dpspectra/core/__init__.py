"""Public nouns: schema, budget, grid, release, errors. Imports nothing else of the package."""
