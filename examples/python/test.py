"""Exchanges arrays between NumPy and kernels. `run.sh` builds the module and runs this."""

import gc
import sys

import numpy
import sarek_python


def refused(call, *words):
    try:
        call()
    except BufferError as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError("it was taken")


x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
y = numpy.ones((2, 3), dtype=numpy.float32)

# A new array, in memory that Rust allocated and NumPy frees.
result = sarek_python.saxpy(3.0, x, y)
assert result.__dlpack_device__() == (1, 0)
z = numpy.from_dlpack(result)
assert z.shape == (2, 3) and (z == 3 * x + 1).all(), z
assert (y == 1).all(), "the argument is unchanged"
refused(lambda: numpy.from_dlpack(result), "already")
part = z[1:]
del z, result
gc.collect()
assert (part == [[10, 13, 16]]).all(), "the part keeps the memory"

# In NumPy's memory.
sarek_python.saxpy_in_place(2.0, x, y)
assert (y == 2 * x + 1).all(), y
sarek_python.saxpy_in_place(1.0, y, y)
assert (y == 4 * x + 2).all(), y

# Arrays that are no vectors of `f32`.
refused(lambda: sarek_python.saxpy(1.0, x.T, y), "strides")
refused(lambda: sarek_python.saxpy(1.0, x.astype(numpy.float64), y), "float64", "float32")
refused(lambda: sarek_python.saxpy(1.0, x[:1], y), "length")
y.flags.writeable = False
refused(lambda: sarek_python.saxpy_in_place(1.0, x, y))
assert (y == 4 * x + 2).all(), y

# What nobody takes is freed, and arguments are given back.
before = sys.getrefcount(x)
for _ in range(100):
    sarek_python.saxpy(1.0, x, x).__dlpack__()
    sarek_python.saxpy(1.0, x, x).__dlpack__(max_version=(1, 0))
gc.collect()
assert sys.getrefcount(x) == before, "all references are given back"
print("NumPy", numpy.__version__, "and kernels share arrays")
