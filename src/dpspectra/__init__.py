"""Differentially private spectra."""
