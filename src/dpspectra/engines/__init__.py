"""Part of dpspectra."""
