"""One JSON object a line on standard output: what every benchmark prints, and ``record`` collects."""

from __future__ import annotations

import json
from typing import Any


def emit(record: dict[str, Any]) -> None:
    print(json.dumps(record, allow_nan=False), flush=True)
