# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls raise: an exception for each class of the runtime's statuses (docs/errors.md)."""
from __future__ import annotations

import errno
import os

from ._tutti import Status


class Error(Exception):
    """A call failed. `status` says what it came to, the message names the thing, what was expected and what was given."""

    status = Status.INTERNAL

    @property
    def exit_code(self) -> int:
        """What the tools exit with for this class of error."""
        return self.status >> 8


class UsageError(Error, ValueError):
    """The caller's arguments do not fit: a file, name, shape or type."""

    status = Status.INVALID_ARGUMENT


class NoFileError(UsageError, FileNotFoundError):
    """There is no file of that name: `errno` is ENOENT, and `filename` the path that was given."""

    status = Status.NOT_FOUND

    def __init__(self, *args, filename: str | None = None):
        super().__init__(*args)
        self.errno, self.strerror, self.filename = errno.ENOENT, os.strerror(errno.ENOENT), filename

    def __str__(self) -> str:
        return Exception.__str__(self)   # OSError's own has no message beside a file's name


class DamagedError(Error):
    """The file is damaged."""

    status = Status.MALFORMED


class UnsupportedError(Error):
    """The file is sound, but needs what this runtime has not."""

    status = Status.UNSUPPORTED


class DeviceError(Error):
    """No such device or driver, or none that the artifact has code for; or it failed."""

    status = Status.NO_DEVICE


class ResourceError(Error):
    """Not enough memory, or a file that cannot be read."""

    status = Status.OUT_OF_MEMORY


class InternalError(Error):
    """A mistake of the runtime's own."""


CLASSES = {2: UsageError, 3: DamagedError, 4: UnsupportedError, 5: DeviceError, 6: ResourceError, 70: InternalError}


def of(status: Status, message: str, file: str | None = None) -> Error:
    """The exception for a status, of the file with this path or of anything else."""
    missing = file is not None and status == Status.NOT_FOUND
    error = NoFileError(message, filename=file) if missing else CLASSES[status >> 8](message)
    error.status = status
    return error
