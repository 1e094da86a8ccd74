# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in the memory of the emulated device, handed over by DLPack as frameworks do it."""
from __future__ import annotations

import ctypes as c
import os

import numpy as np

HOST, CUDA = 1, 2


class Tensor(c.Structure):
    """DLManagedTensor of dlpack.h."""

    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)),
                ("byte_offset", c.c_uint64), ("manager_ctx", c.c_void_p), ("deleter", c.c_void_p)]


class DeviceArray:
    """float32 in device memory, dense. `alive` counts those that have not been freed."""

    alive = 0
    driver = None

    def __init__(self, shape: tuple[int, ...]):
        if DeviceArray.driver is None:
            driver = DeviceArray.driver = c.CDLL(os.environ["TUTTI_CUDA_DRIVER"])
            context = c.c_void_p()
            assert driver.cuInit(0) == 0
            assert driver.cuDevicePrimaryCtxRetain(c.byref(context), 0) == 0
            assert driver.cuCtxSetCurrent(context) == 0
        self.shape, self.bytes, pointer = shape, 4 * int(np.prod(shape)), c.c_uint64()
        assert self.driver.cuMemAlloc_v2(c.byref(pointer), c.c_size_t(self.bytes)) == 0
        self.pointer = pointer.value
        DeviceArray.alive += 1

    def __del__(self):
        self.driver.cuMemFree_v2(c.c_uint64(self.pointer))
        DeviceArray.alive -= 1

    @classmethod
    def of(cls, array: np.ndarray) -> DeviceArray:
        new = cls(array.shape)
        array = np.ascontiguousarray(array, np.float32)
        assert cls.driver.cuMemcpyHtoD_v2(c.c_uint64(new.pointer), c.c_void_p(array.ctypes.data), c.c_size_t(new.bytes)) == 0
        return new

    def numpy(self) -> np.ndarray:
        array = np.empty(self.shape, np.float32)
        assert self.driver.cuMemcpyDtoH_v2(c.c_void_p(array.ctypes.data), c.c_uint64(self.pointer), c.c_size_t(self.bytes)) == 0
        return array

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0

    def __dlpack__(self, **_):
        return self.capsule(self.pointer, self.shape, owner=self)

    exported: dict[int, tuple] = {}   # by the address of its tensor: what lives until the capsule's reader is done

    @staticmethod
    def capsule(pointer: int, shape: tuple[int, ...], host: bool = False, owner: object = None) -> object:
        """What a library hands over; it keeps the owner alive."""
        dims = (c.c_int64 * len(shape))(*shape)
        tensor = Tensor(pointer or None, HOST if host else CUDA, 0, len(shape), 2, 32, 1, dims, None, 0, None, c.cast(DELETER, c.c_void_p))
        DeviceArray.exported[c.addressof(tensor)] = tensor, dims, owner
        make = c.pythonapi.PyCapsule_New
        make.restype, make.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
        return make(c.addressof(tensor), b"dltensor", None)


@c.CFUNCTYPE(None, c.c_void_p)
def DELETER(tensor: int):
    del DeviceArray.exported[tensor]
