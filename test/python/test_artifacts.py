# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What artifacts say and refuse, new weights, programs; and what the package is made of."""
from __future__ import annotations

import errno
import gc
import os
import tarfile
from pathlib import Path

import numpy as np
import tutti
from support import DIGITS, ROOT, SCRATCH, Package, compiled, digits, images


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
        for path in ("/nowhere.tutti", Path("/nowhere.tutti")):
            with self.assertRaises(FileNotFoundError) as raised:
                tutti.load(path)
            error = raised.exception
            self.assertEqual((error.filename, error.errno, error.strerror, error.status.name), ("/nowhere.tutti", errno.ENOENT, os.strerror(errno.ENOENT), "NOT_FOUND"))
            self.assertRegex(str(error), "^[^[].*/nowhere.tutti.*no such file")
        for kind, code in ((tutti.UsageError, 2), (tutti.NoFileError, 2), (tutti.DamagedError, 3), (tutti.UnsupportedError, 4), (tutti.DeviceError, 5),
                           (tutti.ResourceError, 6), (tutti.InternalError, 70)):
            self.assertEqual(kind("somebody's own").exit_code, code)
        own = tutti.NoFileError("x")
        self.assertEqual((own.errno, own.filename, str(own), own.args), (errno.ENOENT, None, "x", ("x",)))
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
        with self.assertRaisesRegex(ValueError, "null character"):
            tutti.load("digits\0.tutti")

    def test_is_loaded_from_bytes(self):
        expected = tutti.load(digits()).session(threads=1).run({"image": images(2)})["logits"]
        for whole in (digits().read_bytes(), bytearray(digits().read_bytes()), memoryview(digits().read_bytes())):
            session = tutti.load(whole).session(threads=1)
            del whole
            gc.collect()
            self.assertTrue((session.run({"image": images(2)})["logits"] == expected).all())
        with self.fails(tutti.DamagedError, "TRUNCATED", "'bytes' has 3 bytes"):
            tutti.load(b"TUT")
        with self.fails(tutti.DamagedError, "MALFORMED", "not an artifact"):
            tutti.load(bytes(5000))

    def test_closes_while_sessions_run_on(self):
        session = tutti.load(digits()).session(device="cpu", threads=1)
        gc.collect()
        self.assertEqual(session.run({"image": images(2)})["logits"].shape, (10, 2, 10))

    def test_new_weights(self):
        artifact = tutti.load(compiled("unshared", DIGITS, "--share", "none"))
        session = artifact.session(threads=1)
        session.bind_input("image", images(4))
        before = session.run()["logits"]
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
        for status, options in [("NOT_FOUND", {"program": 9}), ("NOT_FOUND", {"program": "a"}), ("NOT_FOUND", {"program": -1}), ("INVALID_ARGUMENT", {"program": 0, "shapes": {}}),
                                       ("NOT_FOUND", {"device": "tpu"}), ("NOT_FOUND", {"device": "default"}), ("NOT_FOUND", {"device": "cuda:"}), ("NOT_FOUND", {"device": "cuda:x"}), ("NOT_FOUND", {"device": "cpu:0"}), ("NO_DEVICE", {"device": "emulated:7"}), ("INVALID_ARGUMENT", {"device": 3}),
                                       ("INVALID_ARGUMENT", {"threads": 5000}), ("INVALID_ARGUMENT", {"target": "z80", "device": "cpu"}),
                                       ("INVALID_ARGUMENT", {"stream": "a"}), ("INVALID_ARGUMENT", {"shapes": {"image": 3}}), ("NOT_FOUND", {"shapes": {"images": (1, 64)}}),
                                       ("INVALID_ARGUMENT", {"shapes": [3]})]:
            with self.subTest(options), self.fails(tutti.Error, status):
                artifact.session(**options)
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "shapes is of type list, expected a dict of shapes by their names"):
            artifact.session(shapes=[1])
        with self.assertRaises(TypeError):
            artifact.session(thread=1)

    def test_levels_have_two_names(self):
        artifact = tutti.load(digits())
        answers = [artifact.session(target=target).run({"image": images(2)})["logits"] for target in ("cpu-v3", "x86-64-v3")]
        self.assertTrue((answers[0] == answers[1]).all())

    def test_inputs_of_members(self):
        session = tutti.load(compiled("own", DIGITS[:3], "--input", "image=member", "--dim", "batch=1..8")).session(threads=1)
        self.assertTrue(session.program.inputs[0].per_member)
        x = np.stack([images(8), images(8) + 1, images(8) * 2])
        whole = session.run({"image": x})["logits"]
        part = session.run({"image": x[[2, 0]]}, active=[2, 0])["logits"]
        self.assertTrue((part == whole[[2, 0]]).all())
        with self.fails(tutti.UsageError, "SHAPE_MISMATCH"):
            session.run({"image": x}, active=[2, 0])


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
