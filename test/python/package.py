# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package: what artifacts say, runs and their arrays, errors, threads, devices.

    PYTHONPATH=BUILD/python python package.py BUILD [unittest's arguments]
"""
from __future__ import annotations

import gc
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np
import tutti
from device import DeviceArray

ROOT = Path(__file__).resolve().parents[2]
DIGITS = sorted((ROOT / "examples" / "digits" / "models").glob("*.onnx"))
BUILD = Path(sys.argv.pop(1)).resolve()
SCRATCH = tempfile.TemporaryDirectory(prefix="tutti-python-")

# Every type that an array can have beside float32: what goes in comes out, added to itself.
DTYPES = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32", "ui64": "uint64",
          "f16": "float16", "f64": "float64"}


def compiled(name: str, models: list[Path], *flags: str) -> Path:
    path = Path(SCRATCH.name) / f"{name}.tutti"
    if not path.exists():
        subprocess.run([BUILD / "bin" / "tutti-compile", *models, "-o", path, *flags], check=True)
    return path


def dialect(name: str, text: str, *flags: str) -> Path:
    model = Path(SCRATCH.name) / f"{name}.mlir"
    model.write_text(text)
    return compiled(name, [model], *flags)


def digits() -> Path:
    return compiled("digits", DIGITS, "--output", "logits=members,mean,quantile:0.25", "--dim", "batch=1..16", "--target", "cpu,emulated")


def images(rows: int) -> np.ndarray:
    return np.load(ROOT / "examples" / "digits" / "images.npy")[:rows]


class Package(unittest.TestCase):
    def fails(self, error, status: str, *words: str):
        """As assertRaises, of an error with this status and words in its message."""
        test = self

        class Context:
            def __enter__(self):
                self.inner = test.assertRaises(error)
                self.inner.__enter__()

            def __exit__(self, *exception):
                caught = self.inner.__exit__(*exception)
                if caught:
                    raised = self.inner.exception
                    test.assertEqual(raised.status.name, status, raised)
                    test.assertEqual(raised.exit_code, raised.status >> 8)
                    for word in words:
                        test.assertIn(word, str(raised))
                return caught
        return Context()


class Artifacts(Package):
    def test_says_what_it_holds(self):
        artifact = tutti.load(digits())
        self.assertEqual([m.name for m in artifact.members], [f"member_{i}" for i in range(10)])
        self.assertTrue(artifact.members[3].source.endswith("member_3.onnx"))
        self.assertEqual([p.device for p in artifact.programs], ["cpu", "cuda"])
        program = artifact.programs[0]
        self.assertEqual(program.dimensions, {"batch": (1, 16)})
        self.assertEqual((program.entry, program.precision, program.launches), ("infer", "f32", 1))
        image, = program.inputs
        self.assertEqual((image.name, image.key, image.dtype, image.shape, image.per_member), ("image", "image", "float32", ("batch", 64), False))
        self.assertEqual([o.key for o in program.outputs], ["logits", "logits.mean", "logits.quantile:0.25"])
        self.assertEqual(program.outputs[0].shape, ("members", "batch", 10))
        self.assertEqual(program.outputs[0].dims[0], tutti.Dim("members", 1, 10))
        weight = next(w for w in artifact.weights if w.name == "0.weight")
        self.assertEqual((weight.shape, weight.dtype, weight.group, weight.shared, weight.swappable), ((128, 64), "float32", None, False, True))
        self.assertEqual((artifact.share, artifact.format), ("content", tutti.format_version))
        self.assertIn(tutti.__version__, artifact.compiler)
        artifact.verify_weights()

    def test_is_refused(self):
        with self.fails(tutti.UsageError, "NOT_FOUND", "nowhere"):
            tutti.load("/nowhere.tutti")
        with self.fails(ValueError, "INVALID_ARGUMENT", "regular file"):
            tutti.load(SCRATCH.name)
        whole = digits().read_bytes()
        cut, other = Path(SCRATCH.name) / "cut", Path(SCRATCH.name) / "other"
        cut.write_bytes(whole[:5000])
        with self.fails(tutti.DamagedError, "TRUNCATED", "5000 bytes"):
            tutti.load(cut)
        flipped = bytearray(whole)
        flipped[600] ^= 1
        other.write_bytes(flipped)
        with self.fails(tutti.DamagedError, "DIGEST_MISMATCH", "metadata"):
            tutti.load(other)
        with self.assertRaises(TypeError):
            tutti.load(3)

    def test_closes_while_sessions_run_on(self):
        session = tutti.load(digits()).session(device="cpu", threads=1)
        gc.collect()
        self.assertEqual(session.run({"image": images(2)})["logits"].shape, (10, 2, 10))

    def test_new_weights(self):
        artifact = tutti.load(compiled("unshared", DIGITS, "--share", "none"))
        session = artifact.session(threads=1)
        before = session.run({"image": images(4)})["logits"]
        bias = np.arange(20, dtype=np.float32)[::2]
        artifact.swap_weights(2, {"4.bias": bias})
        after = session.run()["logits"]
        self.assertTrue((after[[0, 1, *range(3, 10)]] == before[[0, 1, *range(3, 10)]]).all())
        artifact.swap_weights(2, {"4.bias": np.zeros(10, np.float32)})
        np.testing.assert_allclose(session.run()["logits"][2] + bias, after[2], atol=1e-4)
        for status, weights in [("SHAPE_MISMATCH", {"4.bias": np.zeros(9, np.float32)}), ("DTYPE_MISMATCH", {"4.bias": np.zeros(10)}),
                                ("NOT_FOUND", {"4.bais": bias}), ("INVALID_ARGUMENT", {"4.bias": None})]:
            with self.fails(tutti.UsageError, status):
                artifact.swap_weights(2, weights)
        with self.fails(tutti.UsageError, "NOT_FOUND", "10"):
            artifact.swap_weights(10, {"4.bias": bias})


class Runs(Package):
    def setUp(self):
        self.session = tutti.load(digits()).session(device="cpu", threads=2)
        self.image = images(16)
        self.all = self.session.run({"image": self.image})

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
        for members, word in (([], "empty"), ([1, 1], "twice"), ([10], "member 10"), (3, "int"), ([-1], "sequence"), ([0.5], "sequence"), ("ab", "sequence")):
            with self.fails(tutti.UsageError, "INVALID_ARGUMENT", word):
                self.session.run(active=members)
            with self.fails(tutti.UsageError, "INVALID_ARGUMENT", word):
                self.session.active = members
        self.same(self.session.run()["logits"], self.all["logits"][[5, 2]])

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

    def test_strided_arrays(self):
        for image in (np.asfortranarray(self.image), self.image[::2], np.repeat(self.image, 2, 1)[:, ::2]):
            self.same(self.session.run({"image": image})["logits"], self.session.run({"image": image.copy()})["logits"])
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "row-major"):
            self.session.bind_input("image", self.image[::2])     # a copy would not be what it says
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "row-major"):
            self.session.run(out={"logits.mean": np.empty((16, 20), np.float32)[:, ::2]})

    def test_what_no_array_is(self):
        for inputs, status, words in [
                ({"image": [1.0]}, "INVALID_ARGUMENT", "list"), ({"image": None}, "INVALID_ARGUMENT", "NoneType"), ({"image": np.array("x")}, "INVALID_ARGUMENT", "str"),
                ({"image": np.empty((2, 64), object)}, "INVALID_ARGUMENT", "object"), ({"image": self.image.astype(np.float64)}, "DTYPE_MISMATCH", "given float64"),
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

    def test_close(self):
        with tutti.load(digits()).session(device="cpu", threads=2) as session:
            session.run({"image": self.image})
        for call in (lambda: session.run(), lambda: session.wait(), lambda: session.bind_input("image", self.image), lambda: setattr(session, "active", [1])):
            with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "closed"):
                call()
        session.close()
        self.assertEqual(session.device.name, "")


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

    def test_sizes_that_no_input_has(self):
        session = tutti.load(digits()).session(device="cpu", threads=1)
        session.set_dimension("batch", 3)
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "'batch' set to 3"):
            session.run({"image": images(4)})
        session.set_dimension("batch", 0)
        session.run({"image": images(4)})
        with self.fails(tutti.UsageError, "NOT_FOUND", "bath"):
            session.set_dimension("bath", 3)


class Programs(Package):
    def test_is_chosen_by_shapes(self):
        artifact = tutti.load(compiled("sizes", DIGITS[:2], "--dim", "batch=4,7"))
        self.assertEqual([p.dimensions for p in artifact.programs], [{"batch": (4, 4)}, {"batch": (7, 7)}])
        for rows in (4, 7):
            session = artifact.session(threads=1, shapes={"image": (rows, 64)})
            self.assertEqual(session.run({"image": images(rows)})["logits"].shape, (2, rows, 10))
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH", "[5, 64]", "batch=7"):
            artifact.session(shapes={"image": (5, 64)})
        self.assertEqual(artifact.session(program=1).program.dimensions, {"batch": (7, 7)})

    def test_wrong_options(self):
        artifact = tutti.load(digits())
        for status, options in [("NOT_FOUND", {"program": 9}), ("INVALID_ARGUMENT", {"program": "a"}),
                                       ("NOT_FOUND", {"device": "tpu"}), ("INVALID_ARGUMENT", {"device": 3}),
                                       ("INVALID_ARGUMENT", {"threads": 5000}), ("INVALID_ARGUMENT", {"target": "z80", "device": "cpu"}),
                                       ("INVALID_ARGUMENT", {"stream": "a"}), ("INVALID_ARGUMENT", {"shapes": {"image": 3}}),
                                       ("INVALID_ARGUMENT", {"shapes": [3]})]:
            with self.subTest(options), self.fails(tutti.UsageError, status):
                artifact.session(**options)
        with self.assertRaises(TypeError):
            artifact.session(thread=1)

    def test_inputs_of_members(self):
        session = tutti.load(compiled("own", DIGITS[:3], "--input", "image=member", "--dim", "batch=1..8")).session(threads=1)
        self.assertTrue(session.program.inputs[0].per_member)
        x = np.stack([images(8), images(8) + 1, images(8) * 2])
        whole = session.run({"image": x})["logits"]
        part = session.run({"image": x[[2, 0]]}, active=[2, 0])["logits"]
        self.assertTrue((part == whole[[2, 0]]).all())
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH"):
            session.run({"image": x}, active=[2, 0])


class Threads(Package):
    def test_one_session_each(self):
        artifact, wrong = tutti.load(digits()), []
        expected = artifact.session(device="cpu", threads=1).run({"image": images(16)})["logits"]

        def work():
            session = artifact.session(device="cpu", threads=1)
            for _ in range(50):
                wrong.append((session.run({"image": images(16)})["logits"] != expected).any())
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads], [t.join() for t in threads]
        self.assertEqual((len(wrong), any(wrong)), (200, False))

    def test_one_session_for_all(self):
        """Calls at once are refused, and none of them gets the answer of another."""
        session, said, wrong = tutti.load(digits()).session(device="cpu", threads=1), set(), []
        right = [session.run({"image": images(16) + i})["logits"] for i in range(4)]

        def work(i):
            for _ in range(300):
                try:
                    wrong.append((session.run({"image": images(16) + i})["logits"] != right[i]).any())
                except tutti.UsageError as error:
                    said.add(error.status)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        [t.start() for t in threads], [t.join() for t in threads]
        sys.setswitchinterval(before)
        self.assertLessEqual(said, {tutti.Status.BUSY})
        self.assertTrue(wrong and not any(wrong))

    def test_fork(self):
        session = tutti.load(digits()).session(device="cpu", threads=2)
        session.run({"image": images(2)})
        child = os.fork()
        if not child:
            try:
                session.run()
            except tutti.UsageError as error:
                os._exit(0 if error.status == tutti.Status.FORKED else 1)
            os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


class Device(Package):
    """The emulated device: what a GPU takes, by the same calls."""

    def setUp(self):
        self.image = images(4)
        self.session = tutti.load(digits()).session(device="emulated")
        self.expected = self.session.run({"image": self.image})

    def test_in_the_host_s_memory(self):
        self.assertEqual((self.session.device.kind, self.session.program.device), ("emulated", "cuda"))
        cpu = tutti.load(digits()).session(device="cpu").run({"image": self.image})
        for key, value in cpu.items():
            np.testing.assert_allclose(self.expected[key], value, rtol=1e-4, atol=1e-4)

    def test_in_the_device_s_memory(self):
        image, logits = DeviceArray.of(self.image), DeviceArray.of(np.zeros((10, 4, 10), np.float32))
        answers = self.session.run({"image": image}, out={"logits": logits})
        self.assertIs(answers["logits"], logits)
        self.assertTrue((logits.numpy() == self.expected["logits"]).all())
        self.assertTrue((answers["logits.mean"] == self.expected["logits.mean"]).all())
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT"):
            tutti.load(digits()).session(device="cpu").run({"image": image})

    def test_runs_in_the_order_of_the_stream(self):
        logits = DeviceArray.of(np.zeros((10, 4, 10), np.float32))
        self.session.bind_output("logits", logits)
        gc.collect()
        alive = DeviceArray.alive
        for shift in range(3):
            self.session.bind_input("image", DeviceArray.of(self.image + shift))
            self.session.run_async()
        gc.collect()
        self.assertEqual(DeviceArray.alive, alive + 3)       # what runs may still read lives on
        self.session.wait()
        gc.collect()
        self.assertEqual(DeviceArray.alive, alive + 1)
        self.assertTrue((logits.numpy() == self.session.run({"image": self.image + 2})["logits"].numpy()).all())

    def test_arrays_are_let_go(self):
        before = DeviceArray.alive
        with tutti.load(digits()).session(device="emulated") as session:
            for _ in range(5):
                session.run({"image": DeviceArray.of(self.image)})
                gc.collect()
                self.assertEqual(DeviceArray.alive, before + 1)
        gc.collect()
        self.assertEqual(DeviceArray.alive, before)


class Distribution(Package):
    def test_sources_are_whole(self):
        """An sdist has what the package is made of."""
        from scikit_build_core.build import build_sdist
        before = os.getcwd()
        os.chdir(ROOT)
        try:
            archive = Path(SCRATCH.name) / build_sdist(SCRATCH.name)
        finally:
            os.chdir(before)
        with tarfile.open(archive) as tar:
            names = {name.split("/", 1)[-1] for name in tar.getnames()}
        wanted = {str(p.relative_to(ROOT)) for folder in ("python", "runtime") for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts}
        self.assertEqual(wanted - names, set())
        self.assertFalse([n for n in names if n.startswith(("build", "compiler", "test"))])


if __name__ == "__main__":
    unittest.main()
