"""Names for the array types of mechanisms: 64-bit integers, doubles, and row indices."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
#: Row numbers of inputs or outputs in a table.
Ids = NDArray[np.intp]
