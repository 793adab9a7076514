"""Labels that are whole numbers become float64 exactly, or not at all: no two become one class."""

from __future__ import annotations

import numpy as np

EVERY = 2**53  # up to here every whole number is a float64


def first_inexact(labels: np.ndarray) -> int | None:
    """The place of the first whole number that no float64 equals; None if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.data.exact import first_inexact
    >>> first_inexact(np.array([2**53, 2**53 + 2, 2**53 + 1]))
    2
    """
    if labels.dtype.kind not in "iu" or labels.dtype.itemsize < 8:
        return None
    far = labels > EVERY
    if labels.dtype.kind == "i":
        far |= labels < -EVERY
    places = np.flatnonzero(far).tolist()
    return next((k for k in places if int(float(labels[k])) != int(labels[k])), None)


WHY = "which float64 cannot hold exactly; turn such labels into words"
