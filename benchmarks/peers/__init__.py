"""Other libraries, each in an environment of its own: they do not all install beside ours."""
