// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fixed header of an artifact file, and how the regions behind it are laid out.
#pragma once

#include "Digest.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::rt {

static_assert(std::endian::native == std::endian::little, "artifacts are little endian and used in place");

inline constexpr char kMagic[4] = {'T', 'U', 'T', 'T'};
/// The one format that is read (docs/artifact.md, "Versions").
inline constexpr uint32_t kFormatVersion = 7;
/// Bits of FileHeader::features that this version understands. A reader refuses a file with any other bit.
inline constexpr uint64_t kKnownFeatures = 0;
/// Buffers, copies of weights and the metadata start at lines of a processor's cache.
inline constexpr uint64_t kLineBytes = 64;
/// What an artifact may name among its `required_features`, which an older reader may not ignore: members in pieces,
/// launches of several kernels, weights that are permuted in other dims than the model file's.
inline constexpr std::string_view kPieces = "pieces", kParts = "parts", kPermDims = "perm_dims";
inline constexpr std::string_view kFeatures[] = {kPieces, kParts, kPermDims};
/// Segments start at, and the code region is padded to, multiples of this.
inline constexpr uint64_t kPageBytes = 4096;
/// On a CUDA device ports, tables and the slots of a block of memory lie at multiples of the one, a weight's copies of
/// the other: what bulk copies and wide loads like. The compiler counts by them what a session will take.
inline constexpr uint64_t kDeviceAlign = 256, kDeviceCopyAlign = 64;

/// The first 256 bytes. A file is: header | metadata (a FlatBuffer, `artifact.fbs`) | code region | weight segments.
/// Every offset counts from the start of the file. The metadata starts at a multiple of kLineBytes, the code region
/// and every segment at a multiple of kPageBytes. All code segments lie inside the code region, no weight segment does,
/// so that one digest covers everything that is executed. A file without code has codeBytes == 0.
struct FileHeader {
  char magic[4];
  uint32_t version;
  uint64_t features;
  uint64_t fileBytes;
  uint64_t metadataOffset;
  uint64_t metadataBytes;
  uint64_t metadataDigest; ///< xxh64 of the metadata
  uint64_t codeOffset;
  uint64_t codeBytes;
  uint64_t codeDigest;   ///< xxh64 of the code region
  uint8_t reserved[168]; ///< zero
  uint64_t unused;       ///< zero
  uint64_t headerDigest; ///< xxh64 of the 248 bytes before it
};
static_assert(sizeof(FileHeader) == 256 && offsetof(FileHeader, headerDigest) == 248);

/// What FileHeader::headerDigest has to be.
inline uint64_t digestOf(const FileHeader &header) { return xxh64(&header, offsetof(FileHeader, headerDigest)); }

template <typename A, typename B> constexpr auto divideCeil(A a, B b) { return a / b + (a % b != 0); }
inline constexpr uint64_t alignUp(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

} // namespace tutti::rt
