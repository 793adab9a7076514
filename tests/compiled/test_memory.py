"""Arrays at cache lines, and kernels that count no references."""

import numpy as np
import pytest

from pegasos.compiled import LINE, aligned
from pegasos.compiled.kernel import OPTIONS


@pytest.mark.parametrize("shape", [(1,), (7,), (1000, 4)])
def test_an_aligned_array_begins_at_a_cache_line(shape):
    for _ in range(20):
        array = aligned(*shape)
        assert array.ctypes.data % LINE == 0
        assert array.shape == shape
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
        assert not array.any()


def test_kernels_count_no_references():
    assert OPTIONS["_nrt"] is False
