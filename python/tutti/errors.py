# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls raise: an exception for each class of the runtime's statuses (docs/errors.md)."""
from __future__ import annotations

import errno

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
    """There is no file of that name: `errno` is ENOENT."""

    status = Status.NOT_FOUND

    def __init__(self, *args):
        super().__init__(*args)
        self.errno = errno.ENOENT


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


def of(status: Status, message: str, file: bool = False) -> Error:
    """The exception for a status, of a file or of anything else."""
    missing = file and status == Status.NOT_FOUND
    error = NoFileError(message) if missing else CLASSES[status >> 8](message)
    error.status = status
    return error
