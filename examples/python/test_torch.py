"""Exchanges tensors between PyTorch and kernels, on a CUDA device and on the host. `run.sh torch` builds the module and runs this."""

import gc

import sarek_python
import torch

for place in ["cpu", "cuda"]:
    x = torch.arange(6, dtype=torch.float32, device=place).reshape(2, 3)
    y = torch.ones((2, 3), dtype=torch.float32, device=place)
    z = torch.from_dlpack(sarek_python.saxpy(3.0, x, y))
    assert z.device.type == place and z.shape == (2, 3), z
    assert (z == 3 * x + 1).all() and (y == 1).all(), z
    # The tensor's memory is the vector's: both write it.
    z += 1
    sarek_python.saxpy_in_place(2.0, x, z)
    assert (z == 5 * x + 2).all(), z
    sarek_python.saxpy_in_place(1.0, z, z)
    assert (z == 10 * x + 4).all(), z
    part = z[1:]
    del z
    gc.collect()
    assert (part == 10 * x[1:] + 4).all(), "the part keeps the memory"
    assert torch.from_dlpack(sarek_python.saxpy(1.0, x[:0], y[:0])).numel() == 0
    for wrong in [x.T, x.double(), x[:1]]:
        try:
            sarek_python.saxpy(1.0, wrong, y)
        except BufferError:
            continue
        raise AssertionError("it was taken")

# Work that PyTorch has queued is done before a kernel reads, and before memory is used again.
big = torch.zeros(1 << 24, device="cuda")
for n in range(20):
    big += 1
    sum = torch.from_dlpack(sarek_python.saxpy(1.0, big, big))
    twice = sum * 1
    del sum
    assert (twice == 2 * (n + 1)).all(), n
print("PyTorch", torch.__version__, "and kernels share tensors on", torch.cuda.get_device_name())
