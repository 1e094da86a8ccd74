// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brings a weight from the model file's shape into its slot's layout.
#include "Check.h"
#include "Weights.h"
#include "runtime/schema/Layout.h"

namespace tutti::rt {

DimsText::DimsText(const int64_t *dims, uint32_t rank) {
  size_t used = size_t(std::snprintf(text, sizeof(text), "["));
  for (uint32_t i = 0; i < rank && i < TUTTI_MAX_RANK; ++i)
    used += size_t(std::snprintf(text + used, sizeof(text) - used, i ? ", %lld" : "%lld", (long long)dims[i]));
  std::snprintf(text + used, sizeof(text) - used, "]");
}

tutti_status_t checkRank(const char *what, const tutti_tensor_t &tensor, tutti_error_t *error) {
  if (tensor.rank < 0 || tensor.rank > TUTTI_MAX_RANK)
    return fail(error, TUTTI_INVALID_ARGUMENT, "%s'%.200s' has rank %d, expected 0 to %d", what, tensor.name,
                tensor.rank, TUTTI_MAX_RANK);
  if (tensor.rank && !tensor.dims)
    return fail(error, TUTTI_INVALID_ARGUMENT, "%s'%.200s' has rank %d and no dims", what, tensor.name, tensor.rank);
  return TUTTI_OK;
}

namespace {
/// A view of a tensor: dims and byte strides.
struct View {
  const char *data;
  uint32_t rank;
  int64_t dims[TUTTI_MAX_RANK], strides[TUTTI_MAX_RANK];
};

void copyDense(char *&out, const View &in, uint32_t axis, const char *from, int64_t element) {
  if (axis == in.rank) { // a scalar
    std::memcpy(out, from, size_t(element));
    return;
  }
  int64_t n = in.dims[axis], stride = in.strides[axis];
  if (axis + 1 < in.rank) {
    for (int64_t i = 0; i < n; ++i)
      copyDense(out, in, axis + 1, from + i * stride, element);
  } else if (stride == element) {
    std::memcpy(out, from, size_t(n * element));
    out += n * element;
  } else {
    for (int64_t i = 0; i < n; ++i, out += element)
      std::memcpy(out, from + i * stride, size_t(element));
  }
}

/// The same elements, which lie dense, in the slot's perm_dims.
void reshape(const fb::Slot &slot, View &dense, int64_t element) {
  dense.rank = count(slot.perm_dims());
  int64_t stride = element;
  for (uint32_t i = dense.rank; i-- > 0; stride *= dense.dims[i]) {
    dense.dims[i] = slot.perm_dims()->Get(i);
    dense.strides[i] = stride;
  }
}

/// Of a tensor as the model file has it, makes the view as the slot has it; `gathered` is the memory of what cannot
/// be seen in place. False when there is not enough memory.
bool makeCanonical(const fb::Slot &slot, const int64_t *strides, int64_t element, uint64_t bytes, View &in,
                   Array<char> &gathered) {
  int64_t dense = element;
  for (uint32_t i = in.rank; i-- > 0; dense *= in.dims[i])
    in.strides[i] = strides ? strides[i] : dense;
  if (count(slot.perm_dims())) {
    if (strides) { // of the file's dims: they say nothing of others
      if (!gathered.allocate(bytes))
        return false;
      char *to = gathered.data();
      copyDense(to, in, 0, in.data, element);
      in.data = gathered.data();
    }
    reshape(slot, in, element);
  }
  const View before = in;
  for (uint32_t i = 0; i < count(slot.perm()); ++i) {
    in.dims[i] = before.dims[slot.perm()->Get(i)];
    in.strides[i] = before.strides[slot.perm()->Get(i)];
  }
  return true;
}

/// Packs a slot's matrices in a layout other than `raw`: straight from the caller's memory for one matrix, through a
/// dense copy for what was reshaped. False when there is not enough memory.
bool packMatrices(const fb::Slot &slot, Layout layout, const View &in, int64_t element, uint64_t bytes, char *out) {
  uint32_t rank = count(slot.type()->dims());
  int64_t K = slot.type()->dims()->Get(rank - 2)->base(), N = slot.type()->dims()->Get(rank - 1)->base();
  if (in.rank == 2 && rank == 2 && in.dims[0] == K && in.strides[0] % element == 0 && in.strides[1] % element == 0 &&
      reinterpret_cast<uintptr_t>(in.data) % uintptr_t(element) == 0) {
    packMatrix(layout, out, in.data, element, K, N, in.strides[0] / element, in.strides[1] / element);
    return true;
  }
  Array<double> canonical; // aligned for all
  if (!canonical.allocate((bytes + sizeof(double) - 1) / sizeof(double)))
    return false;
  char *matrices = reinterpret_cast<char *>(canonical.data()), *to = matrices;
  copyDense(to, in, 0, in.data, element);
  int64_t matrix = K * N * element, packed = layoutBytes(layout, K, N, element);
  for (int64_t m = 0; m < int64_t(bytes) / matrix; ++m)
    packMatrix(layout, out + m * packed, matrices + m * matrix, element, K, N, N, 1);
  return true;
}
} // namespace

tutti_status_t checkRaw(const fb::Slot &slot, const tutti_tensor_t &tensor, tutti_error_t *error) {
  int64_t dims[TUTTI_MAX_RANK];
  uint32_t rank = rawDims(slot, dims);
  if (rawOf(tensor.dtype) != uint32_t(slot.type()->dtype()))
    return fail(error, TUTTI_DTYPE_MISMATCH, "weight '%.200s' is %s, given %s", tensor.name,
                nameOf(slot.type()->dtype()), nameOf(dtypeOf(tensor.dtype)));
  if (auto status = checkRank("weight ", tensor, error))
    return status;
  if (uint32_t(tensor.rank) != rank || !std::equal(dims, dims + rank, tensor.dims))
    return fail(error, TUTTI_SHAPE_MISMATCH, "weight '%.200s' has dims %s, given %s", tensor.name,
                DimsText(dims, rank).text, DimsText(tensor.dims, uint32_t(tensor.rank)).text);
  uint64_t bytes = 0;
  denseBytes(slot.type()->dtype(), dims, rank, bytes);
  if (bytes && !tensor.data)
    return fail(error, TUTTI_INVALID_ARGUMENT, "weight '%.200s' has no data", tensor.name);
  if (rawOf(tensor.memory) != TUTTI_MEMORY_HOST)
    return fail(error, TUTTI_INVALID_ARGUMENT, "weight '%.200s' lies in memory of kind %u, expected the host's",
                tensor.name, rawOf(tensor.memory));
  if (tensor.strides && bitsOf(slot.type()->dtype()) % 8)
    return fail(error, TUTTI_UNSUPPORTED, "weight '%.200s' has elements below a byte and strides", tensor.name);
  return TUTTI_OK;
}

bool packSlot(const fb::Slot &slot, const tutti_tensor_t &tensor, void *copy) {
  View in{static_cast<const char *>(tensor.data), 0, {}, {}};
  in.rank = rawDims(slot, in.dims);
  uint64_t bytes = 0;
  denseBytes(slot.type()->dtype(), in.dims, in.rank, bytes);
  if (bytes == 0)
    return true;
  uint32_t bits = bitsOf(slot.type()->dtype());
  if (bits % 8) { // checkRaw and the compiler allow these in file order only
    std::memcpy(copy, tensor.data, bytes);
    return true;
  }
  int64_t element = bits / 8;
  Array<char> gathered;
  if (!makeCanonical(slot, tensor.strides, element, bytes, in, gathered))
    return false;
  char *out = static_cast<char *>(copy);
  Layout layout = parseLayout(view(slot.layout()));
  if (layout != Layout::raw)
    return packMatrices(slot, layout, in, element, bytes, out);
  copyDense(out, in, 0, in.data, element);
  return true;
}

} // namespace tutti::rt
