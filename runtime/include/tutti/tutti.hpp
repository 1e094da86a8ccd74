// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ interface: owners and value types over tutti.h, header-only, C++20, no exceptions.
#pragma once

#if __cplusplus < 202002L
#error "tutti.hpp needs C++20 (-std=c++20); tutti.h needs C99, or any C++"
#endif

#include "tutti.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti {

/// What a call came to, with its message. True when it failed, so that `if (auto error = ...)` reads well.
class [[nodiscard]] Error {
public:
  Error() = default;
  Error(tutti_status_t status, std::string message) : code(status), text(std::move(message)) {}

  explicit operator bool() const { return code != TUTTI_OK; }
  tutti_status_t status() const { return code; }
  const std::string &message() const { return text; }
  /// The exit code that the tools use for this class of error.
  int exitCode() const { return code >> 8; }

private:
  tutti_status_t code = TUTTI_OK;
  std::string text;
};

/// A value, or the reason why there is none. value() and * may be used only when ok().
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  Result(Error error) : why(std::move(error)) {}

  bool ok() const { return !why; }
  explicit operator bool() const { return ok(); }
  T &value() { return held; }
  const T &value() const { return held; }
  T &operator*() { return held; }
  const T &operator*() const { return held; }
  T *operator->() { return &held; }
  const T *operator->() const { return &held; }
  const Error &error() const { return why; }

private:
  T held{};
  Error why;
};

/// The element type of a C++ type; other types do not compile.
template <typename T> constexpr tutti_dtype_t dtypeOf() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>)
    return TUTTI_BOOL;
  else if constexpr (std::is_same_v<U, float>)
    return TUTTI_F32;
  else if constexpr (std::is_same_v<U, double>)
    return TUTTI_F64;
  else {
    static_assert(std::is_integral_v<U> && sizeof(U) <= 8, "no element type of an artifact is this type");
    constexpr tutti_dtype_t types[2][4] = {{TUTTI_U8, TUTTI_U16, TUTTI_U32, TUTTI_U64},
                                           {TUTTI_I8, TUTTI_I16, TUTTI_I32, TUTTI_I64}};
    return types[std::is_signed_v<U>][sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3];
  }
}

/// An output as a run left it. Valid until the next call that changes its session.
struct Output {
  tutti_tensor_t tensor{};

  std::span<const int64_t> dims() const { return {tensor.dims, size_t(tensor.rank)}; }
  size_t size() const {
    size_t n = 1;
    for (int64_t dim : dims())
      n *= size_t(dim);
    return n;
  }
  /// The elements; empty when T is not the output's type, or they lie in a device's memory.
  template <typename T> std::span<const T> as() const {
    bool fits = dtypeOf<T>() == tensor.dtype && tensor.memory == TUTTI_MEMORY_HOST;
    return fits ? std::span<const T>(static_cast<const T *>(tensor.data), size()) : std::span<const T>();
  }
  /// The same of any type, as float16 and bfloat16, for which C++20 has none, and of less than eight bits, which lie
  /// one behind the other; empty when they lie in a device's memory.
  std::span<const std::byte> bytes() const {
    if (tensor.memory != TUTTI_MEMORY_HOST)
      return {};
    return {static_cast<const std::byte *>(tensor.data), (size() * tutti_dtype_bits(tensor.dtype) + 7) / 8};
  }
};

/// A loaded artifact. May be shared by threads.
class Artifact {
public:
  Artifact() = default;
  Artifact(Artifact &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Artifact &operator=(Artifact &&other) noexcept {
    Artifact taken(std::move(other));
    std::swap(handle, taken.handle); // what this was goes with `taken`
    return *this;
  }
  ~Artifact() { tutti_artifact_close(handle); }

  static Result<Artifact> open(const std::string &path) {
    Artifact artifact;
    tutti_error_t error{};
    if (tutti_artifact_open(path.c_str(), &artifact.handle, &error))
      return Error(error.status, error.message);
    return artifact;
  }
  /// `file` is aligned to 64 bytes and outlives the artifact and its sessions.
  static Result<Artifact> open(std::span<const std::byte> file) {
    Artifact artifact;
    tutti_error_t error{};
    if (tutti_artifact_open_memory(file.data(), file.size(), &artifact.handle, &error))
      return Error(error.status, error.message);
    return artifact;
  }

  /// Of an artifact that was never opened: nothing at all.
  const tutti_info_t &info() const {
    static constexpr tutti_info_t none = [] {
      tutti_info_t info{};
      info.compiler = info.share = "";
      return info;
    }();
    return handle ? *tutti_artifact_info(handle) : none;
  }
  std::span<const tutti_member_t> members() const { return {info().members, info().num_members}; }
  std::span<const tutti_weight_t> weights() const { return {info().weights, info().num_weights}; }
  std::span<const tutti_program_t> programs() const { return {info().programs, info().num_programs}; }
  /// Of a program that the artifact does not have: none.
  std::span<const tutti_port_t> inputs(uint32_t program = 0) const {
    if (program >= programs().size())
      return {};
    return {programs()[program].inputs, programs()[program].num_inputs};
  }
  std::span<const tutti_port_t> outputs(uint32_t program = 0) const {
    if (program >= programs().size())
      return {};
    return {programs()[program].outputs, programs()[program].num_outputs};
  }

  Error verifyWeights() const {
    tutti_error_t error{};
    return tutti_artifact_verify_weights(handle, &error) ? Error(error.status, error.message) : Error();
  }
  Error swapWeights(uint32_t member, std::span<const tutti_tensor_t> tensors) {
    tutti_error_t error{};
    return tutti_artifact_swap_weights(handle, member, tensors.data(), tensors.size(), &error)
               ? Error(error.status, error.message)
               : Error();
  }

  /// Sets `options` to the first program that this machine can run, and to its device; see
  /// tutti_artifact_choose_device.
  Error chooseDevice(tutti_session_options_t &options) const {
    tutti_error_t error{};
    return tutti_artifact_choose_device(handle, &options, &error) ? Error(error.status, error.message) : Error();
  }

  /// The same of the programs that take inputs of these dims; see tutti_artifact_choose_program.
  Error chooseProgram(std::span<const tutti_tensor_t> inputs, tutti_session_options_t &options) const {
    tutti_error_t error{};
    return tutti_artifact_choose_program(handle, inputs.data(), inputs.size(), &options, &error)
               ? Error(error.status, error.message)
               : Error();
  }

  tutti_artifact_t *get() const { return handle; }

private:
  tutti_artifact_t *handle = nullptr;
};

/// A session; used by one thread at a time. Keeps its artifact's file mapped.
class Session {
public:
  Session() = default;
  Session(Session &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Session &operator=(Session &&other) noexcept {
    Session taken(std::move(other));
    std::swap(handle, taken.handle);
    return *this;
  }
  ~Session() { tutti_session_destroy(handle); }

  static Result<Session> create(const Artifact &artifact, const tutti_session_options_t &options) {
    Session session;
    tutti_error_t error{};
    if (tutti_session_create(artifact.get(), &options, &session.handle, &error))
      return Error(error.status, error.message);
    return session;
  }
  static Result<Session> create(const Artifact &artifact, uint32_t threads = 1) {
    tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
    options.threads = threads;
    return create(artifact, options);
  }

  Error setActive(std::span<const uint32_t> members) {
    return check(tutti_session_set_active(handle, members.data(), members.size()));
  }
  Error setDimension(const std::string &name, int64_t value) {
    return check(tutti_session_set_dimension(handle, name.c_str(), value));
  }

  /// Binds dense memory of the caller's in the host, a span or with T named a vector or array
  /// (bindInput<float>("x", values, {3, 64})): data.size() is the product of `dims`. It is read by every run until
  /// another is bound or the session ends, and has to live as long. Errors: as tutti_session_bind_input.
  template <typename T>
  Error bindInput(const std::string &name, std::span<const T> data, std::initializer_list<int64_t> dims) {
    return bindInput(name, data, std::span<const int64_t>(dims.begin(), dims.size()));
  }
  template <typename T>
  Error bindInput(const std::string &name, std::span<const T> data, std::span<const int64_t> dims) {
    if (auto error = fits(name, data.size(), dims))
      return error;
    tutti_tensor_t tensor = {name.c_str(),     dtypeOf<T>(), int32_t(dims.size()),
                             dims.data(),      nullptr,      const_cast<void *>(static_cast<const void *>(data.data())),
                             TUTTI_MEMORY_HOST};
    return check(tutti_session_bind_input(handle, &tensor));
  }
  /// Lets what is bound go: no run reads it any more.
  Error unbindInput(const std::string &name) {
    tutti_tensor_t none = {};
    none.name = name.c_str();
    return check(tutti_session_bind_input(handle, &none));
  }
  /// What ends with the statement would be read after its end.
  template <typename T, typename Data, typename Dims>
    requires(!std::is_lvalue_reference_v<Data> && !std::ranges::borrowed_range<Data>)
  Error bindInput(const std::string &name, Data &&data, Dims &&dims) = delete;
  template <typename T, typename Data>
    requires(!std::is_lvalue_reference_v<Data> && !std::ranges::borrowed_range<Data>)
  Error bindInput(const std::string &name, Data &&data, std::initializer_list<int64_t> dims) = delete;
  /// Binds memory that every run writes, as bindInput does; `head` may be empty when the output has one. Errors: as
  /// tutti_session_bind_output.
  template <typename T>
  Error bindOutput(const std::string &name, const std::string &head, std::span<T> data,
                   std::initializer_list<int64_t> dims) {
    return bindOutput(name, head, data, std::span<const int64_t>(dims.begin(), dims.size()));
  }
  template <typename T>
  Error bindOutput(const std::string &name, const std::string &head, std::span<T> data, std::span<const int64_t> dims) {
    if (auto error = fits(name, data.size(), dims))
      return error;
    tutti_tensor_t tensor = {name.c_str(), dtypeOf<T>(), int32_t(dims.size()), dims.data(),
                             nullptr,      data.data(),  TUTTI_MEMORY_HOST};
    return check(tutti_session_bind_output(handle, head.empty() ? nullptr : head.c_str(), &tensor));
  }

  /// What lies in device memory, has strides, or is of no C++ type.
  Error bindInput(const tutti_tensor_t &tensor) { return check(tutti_session_bind_input(handle, &tensor)); }
  Error bindOutput(const std::string &head, const tutti_tensor_t &tensor) {
    return check(tutti_session_bind_output(handle, head.empty() ? nullptr : head.c_str(), &tensor));
  }

  /// Tensors of other libraries (dlpack.h). On success the session owns the tensor and calls its deleter when another
  /// one is bound or the session ends; on failure it stays the caller's.
  Error bindInput(const std::string &name, DLManagedTensor *tensor) {
    return check(tutti_session_bind_input_dlpack(handle, name.c_str(), tensor));
  }
  Error bindOutput(const std::string &name, const std::string &head, DLManagedTensor *tensor) {
    return check(tutti_session_bind_output_dlpack(handle, name.c_str(), head.empty() ? nullptr : head.c_str(), tensor));
  }

  Error run() { return check(tutti_session_run(handle)); }
  /// Starts a run; its outputs in host memory are there after wait().
  Error runAsync() { return check(tutti_session_run_async(handle)); }
  Error wait() { return check(tutti_session_wait(handle)); }
  /// Of a session that was never made: no device.
  const tutti_device_info_t &device() const {
    static constexpr tutti_device_info_t none = [] {
      tutti_device_info_t device{};
      device.name = "";
      return device;
    }();
    return handle ? *tutti_session_device(handle) : none;
  }

  /// An output of the last run, or before the first one its dims alone; `head` may be empty when the output has one.
  /// What it points at is the session's, until the next call that changes that. Errors: as tutti_session_get_output.
  Result<Output> output(const std::string &name, const std::string &head = "") const {
    Output output;
    if (auto error = check(
            tutti_session_get_output(handle, name.c_str(), head.empty() ? nullptr : head.c_str(), &output.tensor)))
      return error;
    return output;
  }

  /// The dims that an input is to be bound with, under the dimensions that are set or bound and the active set. They
  /// are the session's, until the next call that changes that. Errors: as tutti_session_get_input.
  Result<std::span<const int64_t>> inputDims(const std::string &name) const {
    tutti_tensor_t input;
    if (auto error = check(tutti_session_get_input(handle, name.c_str(), &input)))
      return error;
    return std::span<const int64_t>(input.dims, size_t(input.rank));
  }

  tutti_session_t *get() const { return handle; }

private:
  Error check(tutti_status_t status) const {
    return status ? Error(status, status == TUTTI_BUSY ? "the session is in use" : tutti_session_message(handle))
                  : Error();
  }
  static Error fits(const std::string &name, size_t size, std::span<const int64_t> dims) {
    size_t product = 1;
    bool negative = false;
    for (int64_t dim : dims) {
      product *= size_t(dim);
      negative |= dim < 0;
    }
    if (product == size && !negative)
      return {};
    std::string text;
    for (int64_t dim : dims)
      text += (text.empty() ? "" : ", ") + std::to_string(dim);
    return Error(TUTTI_SHAPE_MISMATCH,
                 "'" + name + "' was given " + std::to_string(size) + " elements for dims [" + text + "]");
  }

  tutti_session_t *handle = nullptr;
};

} // namespace tutti
