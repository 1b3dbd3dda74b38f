"""For tests, ours and others': noise that is not private, contract, audit, statistics, planted faults.

Every release made under ``exact_noise`` or ``seeded_noise`` says ``private: false`` wherever it is shown.
"""

from .sources import ExactNoise, Recorder, Replay, SeededNoise, exact_noise, in_force, recording, seeded_noise

__all__ = [
    "ExactNoise",
    "Recorder",
    "Replay",
    "SeededNoise",
    "exact_noise",
    "in_force",
    "recording",
    "seeded_noise",
]
