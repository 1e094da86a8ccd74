# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workloads on a GPU, beside what else runs there."""
