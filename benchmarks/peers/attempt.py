"""One fit of another library's PCA, in that library's environment: ``python attempt.py LIBRARY TASK``.

TASK is JSON: ``rows`` (path of an .npy file), or ``shape`` and ``spectrum`` for a synthetic table; ``norm``,
``center`` ("none" or "private"), ``low``, ``high``, ``middle``, ``components``, ``epsilon``. Prints a line
when all is ready, so that a caller can limit the time of the fit alone, then a line with the result.
Needs NumPy and the library, nothing of ours.
"""

import json
import sys
import time
import warnings

import numpy as np


def rows_of(task):
    if "rows" in task:
        return np.load(task["rows"])
    n, d = task["shape"]
    rows = np.random.default_rng(0).standard_normal((n, d))
    return rows if task["spectrum"] == "flat" else rows / np.sqrt(np.arange(1, d + 1))


def diffprivlib(task, rows):
    """``diffprivlib.models.PCA``: half of epsilon goes to the mean unless the data are called centred."""
    import diffprivlib
    from diffprivlib.models import PCA

    model = PCA(
        task["components"],
        epsilon=task["epsilon"],
        data_norm=task["norm"],
        centered=task["center"] == "none",
        bounds=None if task["center"] == "none" else (np.array(task["low"]), np.array(task["high"])),
    )
    return diffprivlib.__version__, lambda: model.fit(rows).components_


def opendp(task, rows):
    """``opendp.sklearn.decomposition.PCA``, which releases a mean; about the origin its own constructor.

    Rows are measured from the public middle first: the class clips them about the origin for its mean.
    """
    from importlib.metadata import version

    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    n, d = rows.shape
    if task["center"] == "private":
        shifted = rows - np.array(task["middle"])
        model = dp.sklearn.decomposition.PCA(
            epsilon=task["epsilon"],
            row_norm=task["norm"],
            n_samples=n,
            n_features=d,
            n_components=task["components"],
        )
        return version("opendp"), lambda: model.fit(shifted).components_
    domain = dp.numpy.array2_domain(
        norm=task["norm"], p=2, origin=np.zeros(d), size=n, num_columns=d, T=float
    )
    measure = dp.sklearn.decomposition.make_private_pca(
        domain, dp.symmetric_distance(), task["epsilon"], num_components=task["components"]
    )
    return version("opendp"), lambda: measure(rows).Vt[: task["components"]]


def gram_seconds(rows):
    """Median time of X.T @ X."""
    rows.T @ rows
    times = []
    for _ in range(5):
        start = time.perf_counter()
        rows.T @ rows
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def main():
    warnings.simplefilter("ignore")
    library, task = sys.argv[1], json.loads(sys.argv[2])
    rows = rows_of(task)
    version, fit = {"diffprivlib": diffprivlib, "opendp": opendp}[library](task, rows)
    print(json.dumps({"version": version, "gram_seconds": gram_seconds(rows)}), flush=True)
    start = time.perf_counter()
    components = np.asarray(fit())
    seconds = time.perf_counter() - start
    kept = components.tolist() if "rows" in task else None
    print(json.dumps({"seconds": seconds, "components": kept}), flush=True)


if __name__ == "__main__":
    main()
