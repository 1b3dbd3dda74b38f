"""Run with the interpreter of an environment that holds only the built wheel: is the package whole?"""

from pathlib import Path

import dpspectra
from dpspectra import PrivatePCA, datasets
from dpspectra.core.version import library_version

package = Path(dpspectra.__file__).parent
assert "site-packages" in package.parts, "the wheel is not what was imported"
assert (package / "py.typed").is_file(), "the wheel lacks its type marker"

digits = datasets.load("digits")
model = PrivatePCA(n_components=2, epsilon=4, delta=1e-6, schema=digits.schema, ledger="ledger.db").fit(
    digits.data
)
assert model.components_.shape == (2, 64)
assert model.release_.private
print(f"wheel of dpspectra {library_version()}: imported from an empty folder, one private fit made")
