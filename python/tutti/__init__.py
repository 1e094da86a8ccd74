# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs ensembles of neural networks that tutti-compile made into one artifact.

    import numpy as np
    import tutti

    session = tutti.load("digits.tutti").session()
    answers = session.run({"image": np.zeros((3, 64), np.float32)}, active=[0, 3])
    answers["logits"]          # [2, 3, 10], members 0 and 3
    answers["logits.mean"]     # [3, 10]

An artifact is code: load only what you trust.
"""
from ._tutti import Artifact, Session, Status, format_version, load
from ._tutti import version as __version__
from .errors import DamagedError, DeviceError, Error, InternalError, NoFileError, ResourceError, UnsupportedError, UsageError
from .info import Device, Dim, Member, Port, Program, Weight

__all__ = ["Artifact", "DamagedError", "Device", "DeviceError", "Dim", "Error", "InternalError", "Member", "NoFileError", "Port", "Program",
           "ResourceError", "Session", "Status", "UnsupportedError", "UsageError", "Weight", "__version__", "format_version", "load"]
