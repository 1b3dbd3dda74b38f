"""One file, one mechanism; ``registry.py`` finds them by walking this folder."""
