# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""As much of the CUDA driver as timing takes, by ctypes: a context, a stream, memory and events that all contestants share.

    python cuda.py       says which device is there; exits with 5 and the reason when none is
"""
from __future__ import annotations

import ctypes as c
import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:                  # asking whether there is a device takes Python alone
    import numpy as np

VERSION = 12000                    # the form of the functions that is meant
CLOCK_RATE, MULTIPROCESSORS, MEMORY_CLOCK_RATE, BUS_WIDTH, MAJOR, MINOR = 13, 16, 36, 37, 75, 76
P, SIZE, INT = c.c_void_p, c.c_size_t, c.c_int
ADDRESS = c.c_uint64
FUNCTIONS = {
    "cuInit": [c.c_uint], "cuDriverGetVersion": [c.POINTER(INT)], "cuDeviceGetCount": [c.POINTER(INT)], "cuDeviceGet": [c.POINTER(INT), INT],
    "cuDeviceGetName": [c.c_char_p, INT, INT], "cuDeviceGetAttribute": [c.POINTER(INT), INT, INT], "cuGetErrorName": [INT, c.POINTER(c.c_char_p)],
    "cuDevicePrimaryCtxRetain": [c.POINTER(P), INT], "cuCtxSetCurrent": [P], "cuCtxSynchronize": [], "cuMemGetInfo": [c.POINTER(SIZE), c.POINTER(SIZE)],
    "cuMemAlloc": [c.POINTER(ADDRESS), SIZE], "cuMemFree": [ADDRESS], "cuMemcpyHtoD": [ADDRESS, P, SIZE], "cuMemcpyDtoH": [P, ADDRESS, SIZE],
    "cuMemsetD8Async": [ADDRESS, c.c_ubyte, SIZE, P], "cuStreamCreate": [c.POINTER(P), c.c_uint], "cuStreamSynchronize": [P],
    "cuEventCreate": [c.POINTER(P), c.c_uint], "cuEventRecord": [P, P], "cuEventElapsedTime": [c.POINTER(c.c_float), P, P],
}


class NoDevice(Exception):
    """There is nothing here to run on; the text says why."""


class Cuda:
    """A device, its primary context (current in this thread) and a stream of ours."""

    def __init__(self, ordinal: int = 0, emulated: bool = False):
        name = os.environ.get("TUTTI_CUDA_DRIVER") or "libcuda.so.1"
        try:
            library = c.CDLL(name)
            find = self.find = library.cuGetProcAddress_v2
        except (OSError, AttributeError) as error:
            raise NoDevice(f"there is no CUDA driver: {error}") from None
        find.argtypes = [c.c_char_p, c.POINTER(P), INT, c.c_uint64, c.POINTER(INT)]
        for function, arguments in FUNCTIONS.items():
            address, status = P(), INT()
            if find(function.encode(), c.byref(address), VERSION, 0, c.byref(status)) or not address.value:
                raise NoDevice(f"the CUDA driver '{name}' has no {function}; one for CUDA 12.0 or newer has")
            setattr(self, function, c.CFUNCTYPE(INT, *arguments)(address.value))
        self.emulated = emulated
        if result := self.cuInit(0):
            raise NoDevice(f"the CUDA driver '{name}' does not start: {self.name_of(result)}")
        version, devices, device = INT(), INT(), INT()
        self.check(self.cuDriverGetVersion(c.byref(version)))
        self.driver = f"{version.value // 1000}.{version.value % 1000 // 10}"
        self.check(self.cuDeviceGetCount(c.byref(devices)))
        if ordinal >= devices.value:
            raise NoDevice(f"there is no CUDA device {ordinal}: the driver has {devices.value}")
        self.check(self.cuDeviceGet(c.byref(device), ordinal))
        self.device, self.ordinal = device.value, ordinal
        text = c.create_string_buffer(256)
        self.check(self.cuDeviceGetName(text, 256, device))
        self.name = text.value.decode()
        self.context, self.stream = P(), P()
        self.check(self.cuDevicePrimaryCtxRetain(c.byref(self.context), device))
        self.check(self.cuCtxSetCurrent(self.context))
        self.check(self.cuStreamCreate(c.byref(self.stream), 1))

    def name_of(self, result: int) -> str:
        text = c.c_char_p()
        self.cuGetErrorName(result, c.byref(text))
        return f"{(text.value or b'an error without a name').decode()} ({result})"

    def check(self, result: int):
        if result:
            raise RuntimeError(f"CUDA driver: {self.name_of(result)}")

    def attribute(self, number: int) -> int:
        value = INT()
        self.check(self.cuDeviceGetAttribute(c.byref(value), number, self.device))
        return value.value

    def bus(self) -> str:
        """What nvidia-smi knows the device by; its own numbers are others."""
        text, address, status = c.create_string_buffer(64), P(), INT()
        if self.find(b"cuDeviceGetPCIBusId", c.byref(address), VERSION, 0, c.byref(status)) or not address.value:
            return str(self.ordinal)
        self.check(c.CFUNCTYPE(INT, c.c_char_p, INT, INT)(address.value)(text, 64, self.device))
        return text.value.decode()

    def about(self) -> dict:
        return {"name": self.name, "capability": f"{self.attribute(MAJOR)}.{self.attribute(MINOR)}", "driver_cuda": self.driver,
                "multiprocessors": self.attribute(MULTIPROCESSORS), "max_clock_mhz": self.attribute(CLOCK_RATE) // 1000}

    def allocate(self, size: int) -> int:
        address = ADDRESS()
        self.check(self.cuMemAlloc(c.byref(address), max(size, 16)))
        return address.value

    def free(self, address: int):
        self.check(self.cuMemFree(address))

    def settle(self):
        """Waits for all streams: copies from the host may land after they return, and our stream waits for no other."""
        self.check(self.cuCtxSynchronize())

    def write(self, address: int, array: np.ndarray):
        self.check(self.cuMemcpyHtoD(address, array.ctypes.data, array.nbytes))
        self.settle()

    def upload(self, array: np.ndarray) -> int:
        import numpy as np
        array = np.ascontiguousarray(array)
        address = self.allocate(array.nbytes)
        self.write(address, array)
        return address

    def download(self, address: int, shape: tuple[int, ...]) -> np.ndarray:
        import numpy as np
        array = np.empty(shape, np.float32)
        self.check(self.cuMemcpyDtoH(array.ctypes.data, address, array.nbytes))
        return array

    def wait(self):
        self.check(self.cuStreamSynchronize(self.stream))

    def event(self) -> P:
        event = P()
        self.check(self.cuEventCreate(c.byref(event), 0))
        return event

    def between(self, before: P, after: P) -> float:
        """Seconds."""
        milliseconds = c.c_float()
        self.check(self.cuEventElapsedTime(c.byref(milliseconds), before, after))
        return milliseconds.value / 1e3


QUERY = ["name", "driver_version", "clocks.sm", "clocks.mem", "clocks.max.sm", "clocks.max.mem", "power.draw", "temperature.gpu"]


class Smi:
    """One question to nvidia-smi, asked while work goes on; nothing where there is no nvidia-smi."""

    def __init__(self, bus: str):
        command = ["nvidia-smi", f"--id={bus}", "--format=csv,noheader,nounits", "--query-gpu=" + ",".join(QUERY)]
        try:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            self.process = None

    def pending(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def answer(self) -> dict | None:
        if self.process is None:
            return None
        line = self.process.communicate()[0].strip()
        values = [v.strip() for v in line.split(",")]
        return dict(zip(QUERY, values)) if len(values) == len(QUERY) else None


def main() -> int:
    try:
        cuda = Cuda()
    except (NoDevice, RuntimeError) as error:
        print(f"./dev --gpu: there is no GPU to run on: {error}", file=sys.stderr)
        return 5
    print(f"{cuda.name}, driver for CUDA {cuda.driver}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
