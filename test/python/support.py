# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the Python package have in common: artifacts, made by the tutti-compile of TUTTI_BUILD, and errors that are looked at."""
from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DIGITS = sorted((ROOT / "examples" / "digits" / "models").glob("*.onnx"))
BUILD = Path(os.environ["TUTTI_BUILD"]).resolve()
SCRATCH = tempfile.TemporaryDirectory(prefix="tutti-python-")


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
