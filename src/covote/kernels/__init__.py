"""Every compiled loop: plain arrays in, plain arrays out; right with the JIT switched off too.

Answers are rows of a table: `answer[a] = annotator * n_classes + label`; the answers of item n are
`answer[offsets[n]:offsets[n + 1]]`, sorted by annotator. Optional arrays are empty when not used. Kernels are serial
and release the interpreter lock: threads run them over fixed spans of items, so sums do not depend on their number.
"""

import contextlib as _contextlib
import sys as _sys

_BLAS = "scipy.linalg.cython_blas"
if _BLAS not in _sys.modules:
    # Numba looks for SciPy's BLAS as soon as anything is compiled, which takes longer than the import of NumPy. No
    # kernel needs it: it is hidden for that moment, and found when somebody else's code first asks for it.
    _sys.modules[_BLAS] = None  # type: ignore[assignment]
    try:
        with _contextlib.suppress(ImportError):
            from numba.np import arraymath as _arraymath

            _arraymath._HAVE_BLAS = True
    finally:
        del _sys.modules[_BLAS]
