"""Small real tables that come with scikit-learn, each with a public schema written by hand."""

from .bundled import Dataset, export, load, load_breast_cancer, load_digits, names

__all__ = ["Dataset", "export", "load", "load_breast_cancer", "load_digits", "names"]
