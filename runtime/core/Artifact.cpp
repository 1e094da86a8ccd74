// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading: bounds, digests of header, metadata and code, the FlatBuffers verifier, the semantic check.
#include "Artifact.h"

#include "Engine.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti::rt {

namespace {
/// The verifier asserts at 2 GiB.
constexpr uint64_t kMaxMetadata = (uint64_t(1) << 31) - 2;
constexpr uint32_t kMaxDepth = 64;
using ull = unsigned long long;

tutti_status_t statusOf(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return TUTTI_NOT_FOUND;
  case EACCES:
  case EPERM:
  case EISDIR:
  case ELOOP:
  case ENAMETOOLONG:
    return TUTTI_INVALID_ARGUMENT; // another name is what helps
  case ENOMEM:
    return TUTTI_OUT_OF_MEMORY;
  default:
    return TUTTI_IO_ERROR;
  }
}
/// strerror is not thread-safe, and a name for the common cases is enough.
const char *reasonOf(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return "no such file";
  case EACCES:
  case EPERM:
    return "permission denied";
  case EISDIR:
    return "is a directory";
  case ELOOP:
    return "too many links";
  case ENAMETOOLONG:
    return "the name is too long";
  case ENOMEM:
    return "not enough memory";
  case EMFILE:
  case ENFILE:
    return "too many open files";
  default:
    return "input/output error";
  }
}
} // namespace

/// Puts the file's name before what is wrong with it.
static void nameFile(const char *path, tutti_error_t *error) {
  tutti_error_t said = *error;
  (void)fail(error, said.status, "%.300s: %s", path, said.message);
}

Artifact *Artifact::open(const char *path, const void *data, size_t size, tutti_status_t &status,
                         tutti_error_t *error) {
  Artifact *artifact = make<Artifact>();
  if (!artifact) {
    status = outOfMemory(error, "an artifact", sizeof(Artifact));
    return nullptr;
  }
  int file = -1;
  if (path) {
    status = artifact->map(path, error, file);
  } else {
    artifact->base = static_cast<const char *>(data);
    artifact->bytes = size;
    status = reinterpret_cast<uintptr_t>(data) % kLineBytes
                 ? fail(error, TUTTI_INVALID_ARGUMENT, "an artifact in memory is at %p, expected a multiple of %llu",
                        data, ull(kLineBytes))
                 : TUTTI_OK;
  }
  if (!status && (status = artifact->check(error)) && path && error)
    nameFile(path, error);
  if (!status)
    status = artifact->mapCode(file, error);
  if (file >= 0)
    ::close(file);
  if (!status && (!artifact->tables.build(artifact->root()) || !artifact->weights.build() ||
                  !(artifact->cuda = makeCudaDevices(*artifact))))
    status = outOfMemory(error, "the tables of an artifact", artifact->header.metadataBytes);
  if (status) {
    artifact->release();
    return nullptr;
  }
  tutti_info_t &info = artifact->tables.info;
  info.file_bytes = artifact->bytes;
  info.metadata = artifact->base + artifact->header.metadataOffset;
  info.metadata_bytes = artifact->header.metadataBytes;
  return artifact;
}

Artifact::~Artifact() { destroyCudaDevices(cuda); }

void Artifact::release() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    dispose(this);
}

tutti_status_t Artifact::map(const char *path, tutti_error_t *error, int &file) {
  file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  bool isThere = file >= 0 ? fstat(file, &info) == 0 : errno == ENXIO && stat(path, &info) == 0; // a socket, a pipe
  if (!isThere)
    return fail(error, statusOf(errno), "cannot open '%.300s': %s", path, reasonOf(errno));
  if (!S_ISREG(info.st_mode))
    return fail(error, TUTTI_INVALID_ARGUMENT, "'%.300s' is not a regular file", path);
  bytes = uint64_t(info.st_size);
  if (bytes < sizeof(FileHeader))
    return fail(error, TUTTI_TRUNCATED, "'%.300s' has %llu bytes, expected an artifact of at least %zu", path,
                ull(bytes), sizeof(FileHeader));
  if (!mapped.adopt(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0), bytes))
    return fail(error, statusOf(errno), "cannot map '%.300s': %s", path, reasonOf(errno));
  base = mapped.data();
  return TUTTI_OK;
}

tutti_status_t Artifact::check(tutti_error_t *error) {
  if (bytes < sizeof(FileHeader))
    return fail(error, TUTTI_TRUNCATED, "an artifact has %llu bytes, expected at least %zu", ull(bytes),
                sizeof(FileHeader));
  std::memcpy(&header, base, sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return fail(error, TUTTI_MALFORMED, "not an artifact: it does not start with 'TUTT'");
  // A newer header may have another length and digest, so its version is all that can be said of it.
  if (header.version > kFormatVersion)
    return fail(error, TUTTI_NEWER_FORMAT, "the artifact has format %u, this runtime reads %u; use a newer runtime",
                header.version, kFormatVersion);
  if (header.version > 0 && header.version < kFormatVersion)
    return fail(error, TUTTI_UNSUPPORTED, "the artifact has format %u, this runtime reads %u; compile the models again",
                header.version, kFormatVersion);
  if (header.version == 0 || digestOf(header) != header.headerDigest)
    return fail(error, TUTTI_DIGEST_MISMATCH, "the header is damaged: its digest is %016llx, expected %016llx",
                ull(digestOf(header)), ull(header.headerDigest));
  if (uint64_t unknown = header.features & ~kKnownFeatures)
    return fail(error, TUTTI_UNSUPPORTED, "the artifact needs features %llx, which this runtime has not", ull(unknown));
  if (header.fileBytes != bytes)
    return fail(error, header.fileBytes > bytes ? TUTTI_TRUNCATED : TUTTI_MALFORMED,
                "the artifact has %llu bytes, its header says %llu", ull(bytes), ull(header.fileBytes));

  auto inside = [&](uint64_t offset, uint64_t size, uint64_t align) {
    return offset >= sizeof(FileHeader) && offset % align == 0 && offset <= bytes && size <= bytes - offset;
  };
  if (header.metadataBytes > kMaxMetadata || !inside(header.metadataOffset, header.metadataBytes, kLineBytes))
    return fail(error, TUTTI_MALFORMED, "the metadata is %llu bytes at %llu in a file of %llu",
                ull(header.metadataBytes), ull(header.metadataOffset), ull(bytes));
  if (header.codeBytes && !inside(header.codeOffset, header.codeBytes, kPageBytes))
    return fail(error, TUTTI_MALFORMED, "the code is %llu bytes at %llu in a file of %llu", ull(header.codeBytes),
                ull(header.codeOffset), ull(bytes));
  const char *start = base + header.metadataOffset;
  if (xxh64(start, header.metadataBytes) != header.metadataDigest)
    return fail(error, TUTTI_DIGEST_MISMATCH, "the metadata is damaged: its digest is not %016llx",
                ull(header.metadataDigest));
  if (header.codeBytes && xxh64(base + header.codeOffset, header.codeBytes) != header.codeDigest)
    return fail(error, TUTTI_DIGEST_MISMATCH, "the code is damaged: its digest is not %016llx", ull(header.codeDigest));

  // A table takes at least 4 bytes, so this bound refuses nothing but tables that are visited again and again.
  auto maxTables = static_cast<flatbuffers::uoffset_t>(header.metadataBytes / 4 + 1);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(start), header.metadataBytes, kMaxDepth, maxTables);
  if (header.metadataBytes < 16 || !fb::VerifyRootBuffer(verifier))
    return fail(error, TUTTI_MALFORMED, "malformed artifact: the metadata is no sound FlatBuffer");
  metadata = fb::GetRoot(start);
  if (auto status = checkMetadata(*metadata, header, error))
    return status;
  return verifyWeights(Segments::eager, error);
}

/// Code runs from the file's own pages; from a copy where the file system allows no execution, or there is no file.
/// Without either an artifact may still be looked at, and run on other devices.
tutti_status_t Artifact::mapCode(int file, tutti_error_t *error) {
  const auto *programs = root().programs();
  bool anyForCpus =
      std::any_of(programs->begin(), programs->end(), [](const fb::Program *program) { return !isForCuda(*program); });
  if (!header.codeBytes || !anyForCpus)
    return TUTTI_OK;
  if (file >= 0 &&
      code.adopt(mmap(nullptr, header.codeBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, off_t(header.codeOffset)),
                 header.codeBytes))
    return TUTTI_OK;
  if (!code.allocate(header.codeBytes))
    return outOfMemory(error, "code", header.codeBytes);
  std::memcpy(code.data(), base + header.codeOffset, header.codeBytes);
  if (mprotect(code.data(), header.codeBytes, PROT_READ | PROT_EXEC) != 0)
    code.reset();
  return TUTTI_OK;
}

tutti_status_t Artifact::verifyWeights(Segments which, tutti_error_t *error) const {
  for (uint32_t i = 0; i < count(root().segments()); ++i) {
    const fb::Segment &s = *root().segments()->Get(i);
    if (s.kind() == fb::SegmentKind::code || (s.lazy() && which == Segments::eager))
      continue;
    uint64_t digest = xxh64(base + s.offset(), s.bytes());
    if (digest != digestOf(s.digest()))
      return fail(error, TUTTI_DIGEST_MISMATCH,
                  "the weights in segment %u are damaged: their digest is %016llx, expected %016llx", i, ull(digest),
                  ull(digestOf(s.digest())));
  }
  return TUTTI_OK;
}

} // namespace tutti::rt
