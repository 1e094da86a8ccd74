// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables behind tutti_info_t, built once when an artifact is opened.
#pragma once

#include "Check.h"
#include "Memory.h"

namespace tutti::rt {

enum class Side : bool { input, output }; ///< of a program, that a port is on

/// Owns what tutti_info_t points to; names point into the metadata.
class Info {
public:
  /// `root` has been checked. False when there is not enough memory.
  [[nodiscard]] bool build(const fb::Root &root);

  tutti_info_t info = {};

private:
  [[nodiscard]] bool reserve(const fb::Root &root);
  [[nodiscard]] bool addWeights(const fb::Root &root);
  void addProgram(const fb::Program &program, tutti_program_t &out);
  void addPort(const fb::Program &program, const fb::Port &port, const int64_t *lo, const int64_t *hi, Side side);
  const char *symbolOf(const fb::Program &program, const fb::Extent &extent);

  static constexpr size_t kSymbolBytes = 96;
  Array<tutti_member_t> members;
  Array<tutti_program_t> programs;
  Array<tutti_weight_t> weights;
  Array<int64_t> weightDims;
  Array<tutti_port_t> ports;
  Array<tutti_dim_t> dims;
  Array<tutti_dimension_t> dimensions;
  Array<const char *> targets;
  Array<char> symbols;
  // How much of each array is in use; `reserve` has made room for all of it.
  size_t usedPorts = 0, usedDims = 0, usedSymbols = 0, usedDimensions = 0, usedTargets = 0;
};

/// A digest as stored: 8 bytes, little endian; 0 for none.
inline uint64_t digestOf(const flatbuffers::Vector<uint8_t> *bytes) {
  uint64_t digest = 0;
  if (bytes && bytes->size() == sizeof(digest))
    std::memcpy(&digest, bytes->data(), sizeof(digest));
  return digest;
}

} // namespace tutti::rt
