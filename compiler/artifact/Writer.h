// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a planned module, its images and its weights to the artifact's file.
#ifndef TUTTI_COMPILER_ARTIFACT_WRITER_H
#define TUTTI_COMPILER_ARTIFACT_WRITER_H

#include "compiler/codegen/ProgramCode.h"
#include "compiler/import/align/Align.h"

namespace tutti {

struct WriteOptions {
  std::string share;    ///< "content" or "none"
  std::string compiler; ///< name and version, for provenance
  std::vector<std::string> notes;
  /// Called as weights are written: bytes done and in all.
  std::function<void(uint64_t, uint64_t)> progress;
};

/// Writes header, metadata, code and packed weights to a temporary file beside `path`, then renames it: `path` is
/// either complete or untouched, though nothing is written through to a disk that loses power. Programs share weights:
/// one that several read in one layout is stored once. Their ensembles have the same members. Weights are packed one
/// block at a time; memory does not grow with their number.
llvm::Error writeArtifact(llvm::StringRef path, llvm::ArrayRef<ProgramCode> programs, const WriteOptions &options);
/// Writes the text of a stage in the same way; `path` may be a pipe.
llvm::Error writeText(llvm::StringRef path, llvm::StringRef text);

} // namespace tutti

#endif
