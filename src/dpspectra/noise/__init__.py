"""Integer noise. ``secure.py`` alone imports the sampler library; seeded noise lives in ``testing``."""
