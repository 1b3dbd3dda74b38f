"""scikit-learn faces: they check parameters, call the pipeline and set attributes."""

from .covariance import PrivateCovariance
from .pca import PrivatePCA
from .scree import PrivateScree

__all__ = ["PrivateCovariance", "PrivatePCA", "PrivateScree"]
