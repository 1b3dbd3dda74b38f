"""Private. One row in, one integer row out; no row looks at another.

cells (``memory``, ``arrow``, ``text``) -> numbers (``special``) -> features (``encode``) -> integers
(``quantise``) inside the ball (``clip``). Cell faults never raise: they become fixed public values.
"""
