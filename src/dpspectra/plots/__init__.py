"""Pictures of a fitted estimator's released numbers, drawn with Matplotlib.

Each function takes ``ax=`` and returns the Axes; without ``ax`` it makes a Figure of its own and never
touches pyplot's state. Pictures show released numbers only: no point of any row is ever drawn.
"""

from .correlation_circle import correlation_circle
from .correlation_heatmap import correlation_heatmap
from .loadings import loadings
from .save import save
from .score_map import score_map
from .scree import scree

__all__ = ["correlation_circle", "correlation_heatmap", "loadings", "save", "score_map", "scree"]
