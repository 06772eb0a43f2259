"""beside_torch.py LIBRARY CAPTURE before|beside|after|none: torch.profiler and a world of xs in one process.

before: the profiler has been used and is over when the world is made.   beside: it runs while the world is made and launches.
after:  the world is there first, and goes on behind the profiler.       none: no profiler.
Prints how many kernels torch.profiler told of, and that the numbers computed are right. Exit code 77: no PyTorch, or none that sees a GPU."""
import ctypes
import sys

try:
    import torch
    from torch.profiler import ProfilerActivity, profile
except ImportError as why:
    print(f"skipped: {sys.executable} has no PyTorch: {why}")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: PyTorch sees no GPU")
    sys.exit(77)

PRODUCTS = 10
library = ctypes.CDLL(sys.argv[1])
library.beside_open.restype = ctypes.c_void_p
library.beside_open.argtypes = [ctypes.c_char_p]
library.beside_launch.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
library.beside_close.argtypes = [ctypes.c_void_p]


def right(rc, what):
    if rc is None or (isinstance(rc, int) and rc < 0):
        sys.exit(f"FAILED: {what}: {rc}")
    return rc


def products():
    a = torch.full((256, 256), 2.0, device="cuda")
    for _ in range(PRODUCTS):
        b = a @ a
    torch.cuda.synchronize()
    assert float(b[3, 7]) == 2.0 * 2.0 * 256


def profiled(work):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        work()
        torch.cuda.synchronize()
    kernels = [e for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    print(f"torch.profiler told of {len(kernels)} kernels and copies")
    if len(kernels) < PRODUCTS:
        sys.exit(f"FAILED: {PRODUCTS} products at least were run")


def run(count=20):
    right(library.beside_launch(world, count), "launch")


capture, when = sys.argv[2].encode(), sys.argv[3]
products()  # torch's context and libraries
if when == "before":
    profiled(products)
    world = right(library.beside_open(capture), "world")
    run()
elif when == "beside":
    def both():
        global world
        products()
        world = right(library.beside_open(capture), "world")
        run()
        products()
    profiled(both)
    run()
else:
    world = right(library.beside_open(capture), "world")
    run()
    if when == "after":
        profiled(lambda: (products(), run()))
    products()
    run()
right(library.beside_close(world), "end")
products()
print("numbers right")
