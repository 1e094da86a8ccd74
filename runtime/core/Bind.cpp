// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binding tensors to ports: the caller's, and those of frameworks by DLPack. Nothing here allocates.
#include "Choose.h"
#include "DLPack.h"
#include "Session.h"

namespace tutti::rt {

static const char *nameOf(Side side) { return side == Side::input ? "input" : "output"; }

PortState *Session::find(const char *name, const char *head, Side side, tutti_status_t &status) {
  PortState *found = nullptr;
  uint32_t matches = 0, first = side == Side::input ? 0 : call.numInputs,
           last = side == Side::input ? call.numInputs : uint32_t(call.ports.size());
  for (uint32_t i = first; name && i < last; ++i)
    if (std::strcmp(call.ports[i].info->name, name) == 0 &&
        (!head || !*head || std::strcmp(call.ports[i].info->head, head) == 0)) {
      found = &call.ports[i];
      ++matches;
    }
  if (!found)
    status = notFound(name, head, side);
  else if (matches > 1)
    status = fail(&call.error, TUTTI_INVALID_ARGUMENT, "output '%.200s' has %u heads; say which, for example '%.80s'",
                  name, matches, found->info->head);
  return matches == 1 ? found : nullptr;
}

/// Says which ports, or which heads of the output named, there are.
tutti_status_t Session::notFound(const char *name, const char *head, Side side) {
  Line<500> names, heads;
  const char *before = nullptr; // heads of an output follow each other
  for (const PortState &port : call.ports) {
    if (port.input != (side == Side::input))
      continue;
    if (!before || std::strcmp(before, port.info->name) != 0)
      names.append("%s'%.60s'", before ? ", " : "", port.info->name);
    if (name && std::strcmp(name, port.info->name) == 0)
      heads.append("%s'%.60s'", heads.used ? ", " : "", port.info->head);
    before = port.info->name;
  }
  if (heads.used)
    return fail(&call.error, TUTTI_NOT_FOUND, "output '%.200s' has no head '%.80s'; its heads are %s", name, head,
                heads.text);
  return fail(&call.error, TUTTI_NOT_FOUND, "there is no %s '%.200s'; the program has %s", nameOf(side),
              name ? name : "", names.used ? names.text : "none");
}

tutti_status_t Session::shapeError(const PortState &port, const int64_t *given, uint32_t rank) {
  Line<512> expected;
  for (int32_t d = 0; d < port.info->rank; ++d) {
    const tutti_dim_t &dim = port.info->dims[d];
    const char *glue = d ? ", " : "";
    if (*dim.symbol)
      expected.append("%s%.60s in %lld..%lld", glue, dim.symbol, (long long)dim.lo, (long long)dim.hi);
    else
      expected.append("%s%lld", glue, (long long)dim.lo);
  }
  Line<100> other;
  const tutti_info_t &info = call.artifact.info();
  tutti_tensor_t tensor = {port.info->name, port.info->dtype, int32_t(rank),    given,
                           nullptr,         nullptr,          TUTTI_MEMORY_HOST};
  for (uint32_t p = 0; p < info.num_programs && !other.used && port.input && rank == uint32_t(port.info->rank); ++p)
    if (view(call.program->entry()) == info.programs[p].entry && takes(info.programs[p], &tensor, 1))
      other.append("; program %u of the artifact takes these", p);
  const char *axis = port.info->per_member ? " (the member axis, as long as the active set, comes first)" : "";
  return fail(&call.error, TUTTI_SHAPE_MISMATCH, "%s '%.200s' has dims [%s]%s, given %s%s",
              port.input ? "input" : "output", port.info->name, expected.text, axis, DimsText(given, rank).text,
              other.used ? other.text : "");
}

/// What can be said of a tensor before the sizes of the call are known.
tutti_status_t Session::checkGiven(const PortState &port, const tutti_tensor_t &tensor) {
  const tutti_port_t &info = *port.info;
  if (rawOf(tensor.dtype) != rawOf(info.dtype))
    return fail(&call.error, TUTTI_DTYPE_MISMATCH, "'%.200s' is %s, given %s", info.name, nameOf(fb::DType(info.dtype)),
                nameOf(dtypeOf(tensor.dtype)));
  if (auto status = checkRank("", tensor, &call.error))
    return status;
  bool fits = tensor.rank == info.rank;
  for (int32_t d = 0; fits && d < info.rank; ++d)
    fits = tensor.dims[d] >= info.dims[d].lo && tensor.dims[d] <= info.dims[d].hi;
  if (!fits)
    return shapeError(port, tensor.dims, uint32_t(tensor.rank));
  uint32_t bits = bitsOf(fb::DType(info.dtype));
  if (reinterpret_cast<uintptr_t>(tensor.data) % std::max(bits / 8, 1u))
    return fail(&call.error, TUTTI_INVALID_ARGUMENT,
                "the data of '%.200s' is at %p, which is not aligned to its elements", info.name, tensor.data);
  if (!tensor.strides)
    return TUTTI_OK;
  if (bits % 8)
    return fail(&call.error, TUTTI_UNSUPPORTED, "'%.200s' has elements below a byte and strides", info.name);
  int64_t dense = bits / 8;
  for (int32_t d = info.rank; d-- > 0; dense *= tensor.dims[d])
    if (tensor.dims[d] > 1 && tensor.strides[d] != dense)
      return fail(&call.error, TUTTI_SHAPE_MISMATCH,
                  "'%.200s' has a stride of %lld bytes in dimension %d, expected %lld: tensors are dense and row-major",
                  info.name, (long long)tensor.strides[d], d, (long long)dense);
  return TUTTI_OK;
}

/// What was bound by DLPack goes back to its owner. Nothing may run on it.
void Session::giveBack(PortState &port) {
  DLManagedTensor *managed = std::exchange(port.managed, nullptr);
  if (managed && managed->deleter)
    managed->deleter(managed);
}

tutti_status_t Session::bindTo(const tutti_tensor_t &tensor, const char *head, Side side, DLManagedTensor *managed) {
  tutti_status_t status = TUTTI_OK;
  PortState *port = find(tensor.name, head, side, status);
  if (!port)
    return status;
  if (rawOf(tensor.memory) > TUTTI_MEMORY_DEVICE)
    return fail(&call.error, TUTTI_INVALID_ARGUMENT,
                "'%.200s' lies in memory of kind %u, expected one of tutti_memory_t", tensor.name,
                rawOf(tensor.memory));
  bool unbind = !tensor.data && !managed && (side == Side::output || tensor.dtype == TUTTI_NONE);
  if (!unbind) {
    if ((status = checkGiven(*port, tensor)))
      return status;
    uint64_t bytes = 0;
    denseBytes(fb::DType(tensor.dtype), tensor.dims, uint32_t(tensor.rank), bytes);
    if (!tensor.data && bytes)
      return fail(&call.error, TUTTI_INVALID_ARGUMENT, "%s '%.200s' has no data", nameOf(side), port->info->name);
  }
  // Runs under way may still read and write what goes: their owner's, and memory of the host, which is copied.
  if (port->managed || (port->bound && port->bound != tensor.data && port->memory == TUTTI_MEMORY_HOST))
    if ((status = engine->wait()))
      return status;
  if (unbind && side == Side::input) { // its dims stay, as those of the next are the same most of the time
    giveBack(*port);
    port->bound = nullptr;
    port->absent = true;
    dirty = std::max(dirty, Dirty::pointers);
    return TUTTI_OK;
  }
  bool same = port->shaped && port->memory == tensor.memory, wasInPlace = port->inPlace;
  if ((status = engine->admit(*port, tensor)))
    return status;
  giveBack(*port);
  port->absent = false;
  // Rebinding buffers of one shape and kind, call after call, costs no more than the pointers.
  size_t dimBytes = size_t(tensor.rank) * sizeof(int64_t);
  if (!unbind) {
    same = same && port->inPlace == wasInPlace && (!dimBytes || std::memcmp(port->given, tensor.dims, dimBytes) == 0);
    if (dimBytes)
      std::memcpy(port->given, tensor.dims, dimBytes);
  }
  port->shaped = !unbind;
  port->bound = tensor.data;
  port->memory = tensor.memory;
  port->managed = managed;
  dirty = std::max(dirty, same || (unbind && port->memory == TUTTI_MEMORY_HOST) ? Dirty::pointers : Dirty::everything);
  return TUTTI_OK;
}

tutti_status_t Session::bind(const tutti_tensor_t *tensor, const char *head, Side side) {
  Entry entry(*this);
  if (entry.status)
    return entry.status;
  if (!tensor)
    return fail(&call.error, TUTTI_INVALID_ARGUMENT, "no tensor was given");
  return bindTo(*tensor, head, side, nullptr);
}

namespace {
/// Our element type; none for what we do not have.
tutti_dtype_t dtypeOf(const DLDataType &type) {
  struct Pair {
    uint8_t code, bits;
    tutti_dtype_t dtype;
  };
  constexpr Pair pairs[] = {{kDLFloat, 32, TUTTI_F32},
                            {kDLFloat, 16, TUTTI_F16},
                            {kDLFloat, 64, TUTTI_F64},
                            {kDLBfloat, 16, TUTTI_BF16},
                            {kDLInt, 8, TUTTI_I8},
                            {kDLInt, 16, TUTTI_I16},
                            {kDLInt, 32, TUTTI_I32},
                            {kDLInt, 64, TUTTI_I64},
                            {kDLUInt, 8, TUTTI_U8},
                            {kDLUInt, 16, TUTTI_U16},
                            {kDLUInt, 32, TUTTI_U32},
                            {kDLUInt, 64, TUTTI_U64},
                            {kDLBool, 8, TUTTI_BOOL},
                            {kDLComplex, 64, TUTTI_COMPLEX64},
                            {kDLComplex, 128, TUTTI_COMPLEX128},
                            {kDLFloat8_e4m3fn, 8, TUTTI_F8E4M3FN},
                            {kDLFloat8_e4m3fnuz, 8, TUTTI_F8E4M3FNUZ},
                            {kDLFloat8_e5m2, 8, TUTTI_F8E5M2},
                            {kDLFloat8_e5m2fnuz, 8, TUTTI_F8E5M2FNUZ},
                            {kDLFloat8_e8m0fnu, 8, TUTTI_F8E8M0}};
  for (const Pair &pair : pairs)
    if (pair.code == type.code && pair.bits == type.bits && type.lanes == 1)
      return pair.dtype;
  return TUTTI_NONE;
}
} // namespace

tutti_status_t Session::bindManaged(const char *name, const char *head, DLManagedTensor *managed, Side side) {
  Entry entry(*this);
  if (entry.status)
    return entry.status;
  if (!managed)
    return fail(&call.error, TUTTI_INVALID_ARGUMENT, "no tensor was given for '%.200s'", name ? name : "");
  const DLTensor &from = managed->dl_tensor; // without data where some libraries have no elements
  bool onHost = from.device.device_type == kDLCPU || from.device.device_type == kDLCUDAHost;
  if (!onHost && from.device.device_type != kDLCUDA && from.device.device_type != kDLCUDAManaged)
    return fail(&call.error, TUTTI_UNSUPPORTED, "'%.200s' is on a DLPack device of type %d; expected the CPU or CUDA",
                name ? name : "", from.device.device_type);
  tutti_tensor_t tensor = {name,
                           dtypeOf(from.dtype),
                           from.ndim,
                           from.shape,
                           nullptr,
                           from.data ? static_cast<char *>(from.data) + from.byte_offset : nullptr,
                           onHost ? TUTTI_MEMORY_HOST : TUTTI_MEMORY_DEVICE};
  if (tensor.dtype == TUTTI_NONE)
    return fail(&call.error, TUTTI_DTYPE_MISMATCH, "'%.200s' has the DLPack element type %u of %u bits and %u lanes",
                name ? name : "", from.dtype.code, from.dtype.bits, from.dtype.lanes);
  int64_t strides[TUTTI_MAX_RANK];
  if (from.strides && from.ndim >= 0 && from.ndim <= TUTTI_MAX_RANK) {
    for (int32_t d = 0; d < from.ndim; ++d)
      strides[d] = int64_t(uint64_t(from.strides[d]) * (from.dtype.bits / 8));
    tensor.strides = strides;
  }
  return bindTo(tensor, head, side, managed);
}

tutti_status_t Session::describe(const char *name, const char *head, Side side, tutti_tensor_t *tensor) {
  Entry entry(*this);
  if (entry.status)
    return entry.status;
  if (!tensor)
    return fail(&call.error, TUTTI_INVALID_ARGUMENT, "no place for the tensor of '%.200s' was given", name ? name : "");
  tutti_status_t status = TUTTI_OK;
  PortState *port = find(name, head, side, status);
  if (!port || (dirty == Dirty::everything && (status = resolveSizes())))
    return status;
  *tensor = {port->info->name, port->info->dtype, port->info->rank, port->dims, nullptr, port->data(), port->memory};
  return TUTTI_OK;
}

} // namespace tutti::rt
