"""scikit-learn faces: they check parameters, call the pipeline and set attributes."""

from .covariance import PrivateCovariance
from .pca import PrivatePCA
from .score_map import PrivateScoreMap
from .scree import PrivateScree
from .second_moment import PrivateSecondMoment

__all__ = ["PrivateCovariance", "PrivatePCA", "PrivateScoreMap", "PrivateScree", "PrivateSecondMoment"]
