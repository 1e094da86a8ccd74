// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The files that a compilation writes: the artifact, or a stage's text.
#include "Metadata.h"
#include "compiler/support/Error.h"

#include "runtime/schema/Format.h"
#include "runtime/support/NewFile.h"

#include "llvm/Support/Signals.h"

#include <cerrno>
#include <unistd.h>

using namespace mlir;

namespace tutti {

namespace {

/// A file that exists under its name only once it is complete. A pipe takes bytes in order only.
class Output {
public:
  explicit Output(StringRef given) : given(given.str()), file(rt::createFile(this->given)) {
    if (file.descriptor < 0) {
      file.temporary.clear(); // an existing file belongs to somebody else
      return;
    }
    if (!file.temporary.empty())
      llvm::sys::RemoveFileOnSignal(file.temporary);
    start = lseek(file.descriptor, 0, SEEK_CUR); // the current position of a descriptor of the process
    seeks = start >= 0 && !(fcntl(file.descriptor, F_GETFL) & O_APPEND);
  }
  ~Output() {
    if (file.descriptor >= 0)
      close(file.descriptor);
    if (file.temporary.empty())
      return;
    unlink(file.temporary.c_str());
    llvm::sys::DontRemoveFileOnSignal(file.temporary);
  }
  /// Whether the file is our own from its first byte on, so that what is never written is zeros.
  bool isNew() const { return !file.temporary.empty(); }
  llvm::Error create() { return file.descriptor < 0 ? failure() : llvm::Error::success(); }
  llvm::Error write(uint64_t offset, const void *data, uint64_t bytes) {
    const char *from = static_cast<const char *>(data);
    while (bytes > 0) {
      ssize_t done = -1;
      if (seeks)
        done = pwrite(file.descriptor, from, bytes, start + offset);
      else if (offset == inOrder)
        done = ::write(file.descriptor, from, bytes);
      else
        errno = ESPIPE;
      if (done < 0 && errno == EINTR)
        continue;
      if (done <= 0)
        return failure();
      from += done;
      bytes -= done;
      inOrder = offset += done;
    }
    return llvm::Error::success();
  }
  llvm::Error finish(uint64_t bytes) {
    if (file.temporary.empty()) {
      if (seeks)
        lseek(file.descriptor, start + bytes, SEEK_SET);
      return llvm::Error::success();
    }
    bool written = ftruncate(file.descriptor, bytes) == 0;
    written &= close(std::exchange(file.descriptor, -1)) == 0;
    if (!written || rename(file.temporary.c_str(), file.path.c_str()) != 0)
      return failure();
    llvm::sys::DontRemoveFileOnSignal(file.temporary);
    file.temporary.clear();
    return llvm::Error::success();
  }

private:
  llvm::Error failure() {
    const char *why = errno == ESPIPE ? "an artifact is not written in order; name a file" : strerror(errno);
    return fail(ExitCode::resource, "cannot write " + quote(given) + ": " + why);
  }
  std::string given;
  rt::NewFile file;
  uint64_t inOrder = 0; ///< where the last write ended
  off_t start = -1;     ///< where the first byte goes; -1 for a pipe
  bool seeks = false;   ///< whether bytes may come in any order
};

/// An artifact on its way into a file: code, then weights, then the metadata with their places.
class ArtifactFile {
public:
  ArtifactFile(llvm::StringRef path, ArrayRef<ProgramCode> programs, const WriteOptions &options)
      : metadata(programs, options), options(options), file(path) {}

  llvm::Error write() {
    layOut();
    if (llvm::Error error = file.create())
      return error;
    if (llvm::Error error = file.write(header.codeOffset, code.data(), code.size()))
      return error;
    if (llvm::Error error = writeWeights())
      return error;
    if (llvm::Error error = writeMetadata())
      return error;
    return file.finish(header.fileBytes);
  }

private:
  /// Gives metadata, code and weights their places. A FlatBuffer omits numbers that are 0, so nonzero placeholders for
  /// offsets and digests give it its final length before they are known.
  void layOut() {
    auto &segments = metadata.root.segments;
    for (const auto &segment : segments) {
      segment->offset = 1;
      segment->digest = digestBytes(1);
    }
    header.metadataBytes = metadata.bytes().size();
    std::memcpy(header.magic, rt::kMagic, sizeof(header.magic));
    header.version = rt::kFormatVersion;
    header.metadataOffset = rt::alignUp(sizeof(header), 64);
    header.codeOffset = rt::alignUp(header.metadataOffset + header.metadataBytes, rt::kPageBytes);
    auto next = segments.begin();
    for (const auto &image : metadata.code) {
      fb::SegmentT &segment = **next++;
      segment.offset = header.codeOffset + code.size();
      segment.digest = digestBytes(rt::xxh64(image->data(), image->size()));
      code += *image;
      code.resize(rt::alignUp(code.size(), rt::kPageBytes), '\0');
    }
    header.codeBytes = code.size();
    header.codeDigest = rt::xxh64(code.data(), code.size());
    weights().offset = header.codeOffset + code.size();
    header.fileBytes = weights().offset + weights().bytes;
  }

  llvm::Error writeWeights() {
    rt::Digest digest;
    uint64_t written = 0;
    static const char zeros[rt::kPageBytes] = {};
    auto pad = [&](uint64_t to) -> llvm::Error {
      while (written < to) {
        uint64_t bytes = std::min<uint64_t>(to - written, sizeof(zeros));
        digest.update(zeros, bytes);
        if (!file.isNew())
          if (llvm::Error error = file.write(weights().offset + written, zeros, bytes))
            return error;
        written += bytes;
      }
      return llvm::Error::success();
    };
    llvm::Error error = metadata.weights.forEachCopy([&](uint64_t offset, ArrayRef<char> bytes) {
      if (llvm::Error error = pad(offset))
        return error;
      digest.update(bytes.data(), bytes.size());
      written += bytes.size();
      if (options.progress)
        options.progress(written, weights().bytes);
      return file.write(weights().offset + offset, bytes.data(), bytes.size());
    });
    if (error)
      return error;
    if (llvm::Error padded = pad(weights().bytes))
      return padded;
    weights().digest = digestBytes(digest.finish());
    return llvm::Error::success();
  }

  llvm::Error writeMetadata() {
    std::string text = metadata.bytes();
    if (text.size() != header.metadataBytes)
      return fail(ExitCode::internal, "the metadata has another length than before it was complete");
    header.metadataDigest = rt::xxh64(text.data(), text.size());
    header.headerDigest = rt::digestOf(header);
    text.resize(header.codeOffset - header.metadataOffset, '\0');
    if (llvm::Error error = file.write(header.metadataOffset, text.data(), text.size()))
      return error;
    return file.write(0, &header, sizeof(header));
  }

  /// The segment behind those of the code.
  fb::SegmentT &weights() { return *metadata.root.segments.back(); }

  Metadata metadata;
  const WriteOptions &options;
  Output file;
  rt::FileHeader header{};
  std::string code;
};

} // namespace

llvm::Error writeText(llvm::StringRef path, llvm::StringRef text) {
  Output file(path);
  if (llvm::Error error = file.create())
    return error;
  if (llvm::Error error = file.write(0, text.data(), text.size()))
    return error;
  return file.finish(text.size());
}

llvm::Error writeArtifact(llvm::StringRef path, ArrayRef<ProgramCode> programs, const WriteOptions &options) {
  return ArtifactFile(path, programs, options).write();
}

} // namespace tutti
