# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs: answers, active sets, arrays of every kind and type."""
from __future__ import annotations

import ctypes
import gc
import types
import weakref

import numpy as np
import tutti
from device import DeviceArray
from support import Package, dialect, digits, images


# Every type that an array can have beside float32: what goes in comes out, added to itself.
DTYPES = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32", "ui64": "uint64",
          "f16": "float16", "f64": "float64"}


class Handed:
    """An array of another library, as far as anybody can see."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)


class Runs(Package):
    def setUp(self):
        self.session = tutti.load(digits()).session(device="cpu", threads=2)
        self.image = images(16)
        self.session.bind_input("image", self.image)
        self.all = self.session.run()

    def same(self, ours, theirs):
        self.assertTrue((np.asarray(ours) == theirs).all())

    def test_all_outputs(self):
        self.assertEqual({k: (v.shape, v.dtype) for k, v in self.all.items()},
                         {"logits": ((10, 16, 10), np.float32), "logits.mean": ((16, 10), np.float32), "logits.quantile:0.25": ((16, 10), np.float32)})
        np.testing.assert_allclose(self.all["logits.mean"], self.all["logits"].mean(0), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(self.all["logits.quantile:0.25"], np.quantile(self.all["logits"], 0.25, axis=0), rtol=1e-5, atol=1e-5)

    def test_answers_are_their_caller_s(self):
        kept = self.all["logits"].copy()
        self.image += 1                                      # read where it lies, by both
        other = self.session.run()["logits"]
        self.image += 1
        changed = other.copy()
        self.session.run_async()
        self.session.wait()
        self.same(self.all["logits"], kept)
        self.same(other, changed)
        self.assertTrue((other != kept).any())

    def test_active_sets(self):
        for members in ([3, 0], (7,), range(2, 5), np.array([9, 1])):
            answers = self.session.run({"image": self.image}, active=members)
            self.same(answers["logits"], self.all["logits"][list(members)])
        self.same(self.session.run()["logits"], self.all["logits"])
        self.session.active = [5, 2]
        self.assertEqual(self.session.active, [5, 2])
        self.same(self.session.run()["logits"], self.all["logits"][[5, 2]])
        self.same(self.session.run(active=[1])["logits"], self.all["logits"][[1]])
        self.same(self.session.run()["logits"], self.all["logits"][[5, 2]])
        for members, word in (([], "empty"), ([1, 1], "twice"), ([10], "member 10"), (3, "int"), ([-1], "member -1"), ([2**40], "member"), ([0.5], "float"), ("ab", "str"),
                              ([True, False], "bool"), (np.array([True]), "bool")):
            with self.fails(tutti.UsageError, "INVALID_ARGUMENT", word):
                self.session.run(active=members)
            with self.fails(tutti.UsageError, "INVALID_ARGUMENT", word):
                self.session.active = members
        self.same(self.session.run()["logits"], self.all["logits"][[5, 2]])

    def test_active_sets_that_stay(self):
        """What is active follows from the call, whatever ran before it, and whether that failed."""
        every, half = list(range(10)), [8, 6, 4, 2, 0]
        for active, wanted in ((half, half), (half, half), (None, every), (np.array(half), half), (every, every), (None, every), (half[::-1], half[::-1])):
            self.same(self.session.run(active=active)["logits"], self.all["logits"][wanted])
        self.assertEqual(self.session.active, every)
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "[10, 16, 10]"):
            self.session.run(active=[3], out={"logits": np.empty((10, 16, 10), np.float32)})
        logits = np.zeros((10, 16, 10), np.float32)
        self.session.bind_output("logits", logits)
        self.session.run_async()                             # of the standing set
        self.session.wait()
        self.same(logits, self.all["logits"])
        self.session.bind_output("logits", None)
        self.session.run(active=[3])
        self.session.active = [3]
        self.same(self.session.run()["logits"], self.all["logits"][[3]])
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "bool"):
            self.session.active = np.ones(10, bool)
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "bool"):
            self.session.active = [3, 1, True]
        self.assertEqual(self.session.active, [3])
        self.session.active = every
        self.same(self.session.run()["logits"], self.all["logits"])

    def test_arrays_of_the_caller(self):
        logits, mean = np.full((10, 16, 10), np.nan, np.float32), np.full((16, 10), np.nan, np.float32)
        answers = self.session.run(out={"logits": logits})
        self.assertIs(answers["logits"], logits)
        self.same(logits, self.all["logits"])
        self.session.bind_output("logits.mean", mean)
        self.assertIs(self.session.run()["logits.mean"], mean)
        self.same(mean, self.all["logits.mean"])
        other = np.empty_like(mean)
        mean.fill(0)
        self.assertIs(self.session.run(out={"logits.mean": other})["logits.mean"], other)
        self.same(mean, 0)                                   # of that call alone
        self.assertIs(self.session.run()["logits.mean"], mean)
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "[3, 10]"):
            self.session.run(out={"logits.mean": np.empty((3, 10), np.float32)})
        mean.fill(0)
        self.assertIs(self.session.run()["logits.mean"], mean)
        self.same(mean, self.all["logits.mean"])
        self.session.bind_output("logits.mean", None)
        self.assertIsNot(self.session.run()["logits.mean"], mean)

    def test_inputs_stay_bound(self):
        image = self.image[:3].copy()
        self.session.bind_input("image", image)
        self.same(self.session.run()["logits"], self.all["logits"][:, :3])
        image[:] = self.image[3:6]                           # read where it lies
        self.same(self.session.run()["logits"], self.all["logits"][:, 3:6])
        del image
        gc.collect()
        self.same(self.session.run()["logits"], self.all["logits"][:, 3:6])

    def test_inputs_are_let_go(self):
        image = self.image.copy()
        held = weakref.ref(image)
        self.session.bind_input("image", image)
        del image
        self.session.run()
        for _ in range(2):
            self.session.bind_input("image", None)
            self.assertIsNone(held())
            with self.fails(tutti.UsageError, "NOT_BOUND", "image"):
                self.session.run()
        self.same(self.session.run({"image": self.image})["logits"], self.all["logits"])
        with self.fails(tutti.UsageError, "NOT_BOUND", "image"):
            self.session.run()
        with self.fails(tutti.UsageError, "NOT_FOUND", "'image'"):
            self.session.bind_input("images", None)
        self.session.bind_input("image", self.image)
        self.same(self.session.run()["logits"], self.all["logits"])

    def test_inputs_of_one_run(self):
        """What run is given is let go, and what is bound for all runs is bound again."""
        other = self.image[:3].copy()
        held = weakref.ref(other)
        self.same(self.session.run({"image": other})["logits"], self.all["logits"][:, :3])
        del other
        self.assertIsNone(held())
        self.same(self.session.run()["logits"], self.all["logits"])
        session = tutti.load(digits()).session(device="cpu", threads=1)
        answers = session.run({"image": self.image})
        held = weakref.ref(answers["logits"])
        del answers
        self.assertIsNone(held())
        for call in (session.run, session.run_async):
            with self.fails(tutti.UsageError, "NOT_BOUND", "image"):
                call()
        self.same(session.run({"image": self.image})["logits"], self.all["logits"])

    def test_strided_arrays(self):
        packed = np.zeros(16, np.dtype([("a", "u1"), ("x", "f4", 64)]))
        packed["x"] = self.image
        unaligned = np.frombuffer(b"-" + self.image.tobytes(), np.uint8)[1:].view(np.float32).reshape(16, 64)
        for image in (np.asfortranarray(self.image), self.image[::2], np.repeat(self.image, 2, 1)[:, ::2], packed["x"], unaligned, self.image[::-1], np.broadcast_to(self.image[0], (16, 64))):
            self.same(self.session.run({"image": image})["logits"], self.session.run({"image": image.copy()})["logits"])
            if image.dtype.isnative and image.flags.aligned and image.flags.writeable:
                self.same(self.session.run({"image": Handed(image)})["logits"], self.session.run({"image": image.copy()})["logits"])
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "row-major"):
            self.session.bind_input("image", self.image[::2])     # a copy would not be what it says
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "row-major"):
            self.session.run(out={"logits.mean": np.empty((16, 20), np.float32)[:, ::2]})

    def test_big_endian_arrays(self):
        """They are brought to the machine's order where arrays are copied, else refused with what to do."""
        big = self.image.astype(">f4")
        for image in (big, np.asfortranarray(big), big[::2], big[:, ::-1]):
            self.same(self.session.run({"image": image})["logits"], self.session.run({"image": image.astype(np.float32, order="C")})["logits"])
        with self.fails(tutti.UsageError, "DTYPE_MISMATCH", "input 'image' has big-endian elements, >f4, expected float32: give array.astype('float32')"):
            self.session.bind_input("image", big)
        mean = np.empty((16, 10), ">f4")
        for call in (lambda: self.session.bind_output("logits.mean", mean), lambda: self.session.run(out={"logits.mean": mean})):
            with self.fails(tutti.UsageError, "DTYPE_MISMATCH", "big-endian elements, >f4, expected float32: give another array"):
                call()

    def test_what_no_array_is(self):
        for inputs, status, words in [
                ({"image": [1.0]}, "INVALID_ARGUMENT", "list"), ({"image": None}, "INVALID_ARGUMENT", "NoneType"), ({"image": np.array("x")}, "DTYPE_MISMATCH", "<U1"),
                ({"image": np.empty((2, 64), object)}, "DTYPE_MISMATCH", "object"), ({"image": self.image.astype(">f8")}, "DTYPE_MISMATCH", "given float64"), ({"image": self.image.astype([("a", ">f4")])}, "DTYPE_MISMATCH", "no artifact"),
                ({"image": np.ma.masked_array(self.image)}, "INVALID_ARGUMENT", "mask"), ({"image\0x": self.image}, "INVALID_ARGUMENT", "NUL"), ({"\ud800": self.image}, "INVALID_ARGUMENT", "name"), ({"image": self.image.astype(np.float64)}, "DTYPE_MISMATCH", "given float64"),
                ({"image": self.image.astype(complex)}, "DTYPE_MISMATCH", "complex128"), ({"image": self.image[:, :3]}, "SHAPE_MISMATCH", "[16, 3]"),
                ({"image": self.image.ravel()}, "SHAPE_MISMATCH", "[1024]"), ({"image": np.empty((17, 64), np.float32)}, "SHAPE_MISMATCH", "batch in 1..16"),
                ({"images": self.image}, "NOT_FOUND", "'image'"), ({3: self.image}, "INVALID_ARGUMENT", "int"), ([self.image], "INVALID_ARGUMENT", "dict")]:
            with self.subTest(words), self.fails(tutti.UsageError, status, words):
                self.session.run(inputs)
        for out, status, words in [({"logit": self.image}, "NOT_FOUND", "'logits.mean'"), ({"logits.mean": np.broadcast_to(np.float32(0), (16, 10))}, "INVALID_ARGUMENT", "read-only"),
                                   ({"logits.mean": np.empty((16, 10))}, "DTYPE_MISMATCH", "float64")]:
            with self.subTest(words), self.fails(tutti.UsageError, status, words):
                self.session.run(out=out)
        self.same(self.session.run()["logits"], self.all["logits"])

    def test_a_failed_call_changes_nothing(self):
        other = self.image + 1
        for call in (lambda: self.session.run({"image": other, "typo": other}), lambda: self.session.run({"image": other}, out={"typo": other}),
                     lambda: self.session.run({"image": other}, out={"logits": other}), lambda: self.session.run({"image": other}, active=[77]),
                     lambda: self.session.run({"image": other}, out=3), lambda: self.session.bind_input("image", [1.0]), lambda: self.session.bind_input("typo", None)):
            with self.assertRaises(tutti.UsageError):
                call()
            self.same(self.session.run()["logits"], self.all["logits"])
        session = tutti.load(digits()).session(device="cpu", threads=1)
        for _ in range(2):
            with self.fails(tutti.UsageError, "NOT_FOUND", "typo"):
                session.run({"image": other, "typo": other})
            with self.fails(tutti.UsageError, "NOT_BOUND", "image"):
                session.run()

    def test_callers_that_change_what_they_gave(self):
        class Vanishing:
            """An array whose owner takes it out of the dict while it is looked at."""

            def __init__(self, arrays, key, array):
                self.arrays, self.key, self.array = arrays, key, array

            def __dlpack__(self, **_):
                self.arrays.pop(self.key, None)
                return self.array.__dlpack__()

        arrays = {}
        arrays["image"] = Vanishing(arrays, "image", self.image.copy())
        self.same(self.session.run(arrays)["logits"], self.all["logits"])
        out, logits = {}, np.zeros((10, 16, 10), np.float32)
        out["logits"] = Vanishing(out, "logits", logits)
        self.session.run(out=out)
        self.same(logits, self.all["logits"])

        class Number:
            def __index__(self):
                members.clear()
                return 1

        members = [Number(), 2, 3]
        self.same(self.session.run(active=members)["logits"], self.all["logits"][[1, 2, 3]])

        class Again:
            def __dlpack__(_, **__):
                return self.session.run()["logits"].__dlpack__()
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "another call"):
            self.session.run({"image": Again()})

        class Key(str):
            __hash__ = object.__hash__
        self.session.run(out={Key("logits"): logits})
        self.same(logits, self.all["logits"])

    def test_reasons_of_other_libraries(self):
        class Refuses:
            def __init__(self, error):
                self.error = error

            def __dlpack__(self, **_):
                raise self.error
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "requires a gradient"):
            self.session.run({"image": Refuses(BufferError("requires a gradient"))})
        for error in (KeyboardInterrupt, SystemExit):
            with self.assertRaises(error):
                self.session.run({"image": Refuses(error())})

    def test_arrays_without_elements(self):
        class Nothing:
            """As torch.empty(0): its address is null."""

            def __dlpack__(self, **_):
                return DeviceArray.capsule(0, (0,), host=True)
        for out in (Nothing(), np.empty(0, np.float32)):
            with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "[0]"):
                self.session.run(out={"logits": out})
            with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "[0]"):
                self.session.bind_output("logits", out)

    def test_memory_of_two_ports_at_once(self):
        room = np.empty((11, 16, 10), np.float32)
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT"):
            self.session.run(out={"logits": room[:10], "logits.mean": room[9]})

    def test_nothing_bound(self):
        session = tutti.load(digits()).session(device="cpu", threads=1)
        with self.fails(tutti.UsageError, "NOT_BOUND", "image"):
            session.run()
        with self.fails(tutti.UsageError, "NOT_BOUND", "image"):
            session.run_async()

    def test_buffers_and_read_only_inputs(self):
        frozen = self.image.copy()
        frozen.flags.writeable = False
        self.same(self.session.run({"image": frozen})["logits"], self.all["logits"])
        self.same(self.session.run({"image": memoryview(self.image)})["logits"], self.all["logits"])
        self.same(self.session.run({"image": (ctypes.c_float * 64 * 16)(*map(tuple, self.image))})["logits"], self.all["logits"])
        self.same(self.session.run(types.MappingProxyType({"image": self.image}))["logits"], self.all["logits"])

    def test_close(self):
        with tutti.load(digits()).session(device="cpu", threads=2) as session:
            session.run({"image": self.image})
        for call in (lambda: session.run(), lambda: session.wait(), lambda: session.bind_input("image", self.image), lambda: setattr(session, "active", [1])):
            with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "closed"):
                call()
        session.close()
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "closed"):
            session.device
        self.assertIn("closed", repr(session))


class Types(Package):
    def test_every_type(self):
        for element, name in DTYPES.items():
            with self.subTest(name):
                path = dialect(element, f'func.func @main(%x: tensor<2x3x{element}>) -> tensor<2x3x{element}> {{\n'
                                        f'  %0 = tutti.add %x, %x : tensor<2x3x{element}>, tensor<2x3x{element}>\n  return %0 : tensor<2x3x{element}>\n}}\n')
                session = tutti.load(path).session(threads=1)
                x = np.arange(6).reshape(2, 3).astype(name)
                y, = session.run({session.program.inputs[0].name: x}).values()
                self.assertEqual((y.dtype, y.shape), (x.dtype, (1, 2, 3)))
                self.assertTrue((y[0] == x + x).all())
                if x.itemsize > 1:
                    big, = session.run({session.program.inputs[0].name: x.astype(x.dtype.newbyteorder(">"))}).values()
                    self.assertEqual((big.dtype, big.tolist()), (y.dtype, y.tolist()))

    def test_bool(self):
        path = dialect("bool", "func.func @main(%x: tensor<4xi1>) -> tensor<4xi1> {\n  %0 = tutti.not %x : tensor<4xi1>\n  return %0 : tensor<4xi1>\n}\n")
        x = np.array([True, False, True, True])
        session = tutti.load(path).session(threads=1)
        y, = session.run({session.program.inputs[0].name: x}).values()
        self.assertEqual(y.dtype, bool)
        self.assertTrue((y[0] == ~x).all())

    def test_bfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("no ml_dtypes")
        path = dialect("bf16", "func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {\n  %0 = tutti.add %x, %x : tensor<4xbf16>, tensor<4xbf16>\n"
                               "  return %0 : tensor<4xbf16>\n}\n")
        x = np.array([1, 2.5, -3, 0], ml_dtypes.bfloat16)
        session = tutti.load(path).session(threads=1)
        name = session.program.inputs[0].name
        y, = session.run({name: x}).values()
        self.assertEqual(y.dtype, ml_dtypes.bfloat16)
        self.assertTrue((y[0] == x + x).all())
        self.assertTrue((next(iter(session.run({name: np.repeat(x, 2)[::2]}).values()))[0] == x + x).all())
        big = x.astype(x.dtype.newbyteorder(">"))
        self.assertTrue((next(iter(session.run({name: big}).values()))[0] == x + x).all())
        with self.fails(tutti.UsageError, "DTYPE_MISMATCH", "big-endian", "bfloat16"):
            session.bind_input(name, big)
        y.flags.writeable = False
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "read-only"):
            session.run({name: x}, out={session.program.outputs[0].key: y})

    def test_sizes_that_no_input_has(self):
        session = tutti.load(digits()).session(device="cpu", threads=1)
        session.set_dimension("batch", 3)
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "'batch' is 3, as set"):
            session.run({"image": images(4)})
        session.set_dimension("batch", 0)
        session.run({"image": images(4)})
        with self.fails(tutti.UsageError, "NOT_FOUND", "bath"):
            session.set_dimension("bath", 3)
