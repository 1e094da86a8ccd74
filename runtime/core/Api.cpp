// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface: argument checks, then the classes.
#include "Choose.h"
#include "Session.h"
#include "runtime/support/Exit.h"

using namespace tutti::rt;

uint32_t tutti_version(void) { return TUTTI_VERSION_MAJOR * 10000 + TUTTI_VERSION_MINOR * 100 + TUTTI_VERSION_PATCH; }

uint32_t tutti_format_version(void) { return kFormatVersion; }

/// The classes of statuses are the tools' exit codes.
static constexpr bool areOf(ExitCode code, std::initializer_list<tutti_status_t> statuses) {
  return std::all_of(statuses.begin(), statuses.end(), [&](tutti_status_t s) { return s >> 8 == int(code); });
}
static_assert(areOf(ExitCode::ok, {TUTTI_OK}));
static_assert(areOf(ExitCode::usage,
                    {TUTTI_INVALID_ARGUMENT, TUTTI_NOT_FOUND, TUTTI_SHAPE_MISMATCH, TUTTI_DTYPE_MISMATCH,
                     TUTTI_NOT_BOUND, TUTTI_SHARED_WEIGHT, TUTTI_BUSY, TUTTI_FORKED}));
static_assert(areOf(ExitCode::malformed, {TUTTI_TRUNCATED, TUTTI_DIGEST_MISMATCH, TUTTI_MALFORMED}));
static_assert(areOf(ExitCode::unsupported, {TUTTI_NEWER_FORMAT, TUTTI_UNSUPPORTED}));
static_assert(areOf(ExitCode::device, {TUTTI_NO_DEVICE, TUTTI_DRIVER_TOO_OLD, TUTTI_DEVICE_LOST, TUTTI_DRIVER_ERROR}));
static_assert(areOf(ExitCode::resource, {TUTTI_OUT_OF_MEMORY, TUTTI_IO_ERROR}));
static_assert(areOf(ExitCode::internal, {TUTTI_INTERNAL}));

const char *tutti_status_name(tutti_status_t status) {
  switch (status) {
  case TUTTI_OK:
    return "ok";
  case TUTTI_INVALID_ARGUMENT:
    return "invalid argument";
  case TUTTI_NOT_FOUND:
    return "not found";
  case TUTTI_SHAPE_MISMATCH:
    return "shape mismatch";
  case TUTTI_DTYPE_MISMATCH:
    return "dtype mismatch";
  case TUTTI_NOT_BOUND:
    return "not bound";
  case TUTTI_SHARED_WEIGHT:
    return "shared weight";
  case TUTTI_BUSY:
    return "session busy";
  case TUTTI_FORKED:
    return "session forked";
  case TUTTI_TRUNCATED:
    return "truncated";
  case TUTTI_DIGEST_MISMATCH:
    return "digest mismatch";
  case TUTTI_MALFORMED:
    return "malformed";
  case TUTTI_NEWER_FORMAT:
    return "newer format";
  case TUTTI_UNSUPPORTED:
    return "unsupported";
  case TUTTI_NO_DEVICE:
    return "no device";
  case TUTTI_DRIVER_TOO_OLD:
    return "driver too old";
  case TUTTI_DEVICE_LOST:
    return "device lost";
  case TUTTI_DRIVER_ERROR:
    return "driver error";
  case TUTTI_OUT_OF_MEMORY:
    return "out of memory";
  case TUTTI_IO_ERROR:
    return "input/output error";
  case TUTTI_INTERNAL:
    return "internal error";
  }
  return "unknown status";
}

const char *tutti_device_name(tutti_device_t device) { return nameOf(device); }
const char *tutti_dtype_name(tutti_dtype_t dtype) { return nameOf(dtypeOf(dtype)); }
uint32_t tutti_dtype_bits(tutti_dtype_t dtype) { return bitsOf(dtypeOf(dtype)); }

static tutti_status_t openArtifact(const char *path, const void *data, size_t bytes, tutti_artifact_t **artifact,
                                   tutti_error_t *error) {
  if (artifact)
    *artifact = nullptr;
  if (!artifact || (!path && !data))
    return fail(error, TUTTI_INVALID_ARGUMENT, "no artifact was given, or no place for its handle");
  tutti_status_t status = TUTTI_OK;
  *artifact = reinterpret_cast<tutti_artifact_t *>(Artifact::open(path, data, bytes, status, error));
  return status;
}

tutti_status_t tutti_artifact_open(const char *path, tutti_artifact_t **artifact, tutti_error_t *error) {
  return openArtifact(path, nullptr, 0, artifact, error);
}

tutti_status_t tutti_artifact_open_memory(const void *data, size_t bytes, tutti_artifact_t **artifact,
                                          tutti_error_t *error) {
  return openArtifact(nullptr, data, bytes, artifact, error);
}

void tutti_artifact_close(tutti_artifact_t *artifact) {
  if (artifact)
    unwrap(artifact)->release();
}

const tutti_info_t *tutti_artifact_info(const tutti_artifact_t *artifact) {
  return artifact ? &unwrap(artifact)->info() : nullptr;
}

tutti_status_t tutti_artifact_verify_weights(const tutti_artifact_t *artifact, tutti_error_t *error) {
  if (!artifact)
    return fail(error, TUTTI_INVALID_ARGUMENT, "no artifact was given");
  return unwrap(artifact)->verifyWeights(Artifact::Segments::all, error);
}

tutti_status_t tutti_artifact_swap_weights(tutti_artifact_t *artifact, uint32_t member, const tutti_tensor_t *weights,
                                           size_t count, tutti_error_t *error) {
  if (!artifact)
    return fail(error, TUTTI_INVALID_ARGUMENT, "no artifact was given");
  return unwrap(artifact)->weights.swap(member, weights, count, error);
}

/// Of options, if there are any: those of the first version had all fields before `context`.
static tutti_status_t checkSize(const tutti_session_options_t *options, tutti_error_t *error) {
  constexpr size_t least = offsetof(tutti_session_options_t, context), known = sizeof(tutti_session_options_t);
  constexpr size_t most = 1024; // of all versions to come; what says more was never filled
  if (!options)
    return TUTTI_OK;
  if (options->struct_size < least || options->struct_size > most)
    return fail(error, TUTTI_INVALID_ARGUMENT,
                "the options' struct_size is %zu, expected %zu to %zu: start with TUTTI_SESSION_OPTIONS_INIT",
                options->struct_size, least, most);
  // A newer program's options that are as they always were ask for nothing that is not here.
  const char *bytes = reinterpret_cast<const char *>(options);
  for (size_t i = known; i < options->struct_size; ++i)
    if (bytes[i])
      return fail(error, TUTTI_UNSUPPORTED,
                  "the options have one that this version does not know, at byte %zu of %zu; it knows %zu", i,
                  options->struct_size, known);
  return TUTTI_OK;
}

static tutti_session_options_t complete(const tutti_session_options_t *options) {
  tutti_session_options_t all = TUTTI_SESSION_OPTIONS_INIT;
  if (options)
    std::memcpy(&all, options, std::min(options->struct_size, sizeof(all)));
  return all;
}

tutti_status_t tutti_artifact_choose_device(tutti_artifact_t *artifact, tutti_session_options_t *options,
                                            tutti_error_t *error) {
  return tutti_artifact_choose_program(artifact, nullptr, 0, options, error);
}

tutti_status_t tutti_artifact_choose_program(tutti_artifact_t *artifact, const tutti_tensor_t *inputs, size_t count,
                                             tutti_session_options_t *options, tutti_error_t *error) {
  if (!artifact || !options)
    return fail(error, TUTTI_INVALID_ARGUMENT, "no artifact was given, or no options to write the choice to");
  if (auto status = checkSize(options, error))
    return status;
  if (count && !inputs)
    return fail(error, TUTTI_INVALID_ARGUMENT, "no inputs were given, expected %zu", count);
  tutti_session_options_t all = complete(options);
  tutti_status_t status = chooseProgram(*unwrap(artifact), inputs, count, all, error);
  if (status)
    return status; // not even a device that is none has been looked at
  options->program = all.program;
  options->device = all.device;
  return TUTTI_OK;
}

tutti_status_t tutti_session_create(tutti_artifact_t *artifact, const tutti_session_options_t *options,
                                    tutti_session_t **session, tutti_error_t *error) {
  if (session)
    *session = nullptr;
  if (!artifact || !session)
    return fail(error, TUTTI_INVALID_ARGUMENT, "no artifact was given, or no place for the session's handle");
  tutti_status_t status = checkSize(options, error);
  if (status)
    return status;
  *session = reinterpret_cast<tutti_session_t *>(Session::create(*unwrap(artifact), complete(options), status, error));
  return status;
}

void tutti_session_destroy(tutti_session_t *session) { Session::destroy(unwrap(session)); }
const char *tutti_session_message(const tutti_session_t *session) {
  return session ? unwrap(session)->message() : "no session was given";
}

tutti_status_t tutti_session_set_active(tutti_session_t *session, const uint32_t *members, size_t count) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->setActive(members, count);
}

tutti_status_t tutti_session_set_dimension(tutti_session_t *session, const char *name, int64_t value) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->setDimension(name, value);
}

tutti_status_t tutti_session_bind_input(tutti_session_t *session, const tutti_tensor_t *tensor) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->bind(tensor, nullptr, Side::input);
}

tutti_status_t tutti_session_bind_output(tutti_session_t *session, const char *head, const tutti_tensor_t *tensor) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->bind(tensor, head, Side::output);
}

tutti_status_t tutti_session_bind_input_dlpack(tutti_session_t *session, const char *name, DLManagedTensor *tensor) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->bindManaged(name, nullptr, tensor, Side::input);
}

tutti_status_t tutti_session_bind_output_dlpack(tutti_session_t *session, const char *name, const char *head,
                                                DLManagedTensor *tensor) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->bindManaged(name, head, tensor, Side::output);
}

tutti_status_t tutti_session_get_output(tutti_session_t *session, const char *name, const char *head,
                                        tutti_tensor_t *tensor) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->describe(name, head, Side::output, tensor);
}

tutti_status_t tutti_session_get_input(tutti_session_t *session, const char *name, tutti_tensor_t *tensor) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->describe(name, nullptr, Side::input, tensor);
}

const tutti_device_info_t *tutti_session_device(const tutti_session_t *session) {
  return session ? &unwrap(session)->device() : nullptr;
}
tutti_status_t tutti_session_run(tutti_session_t *session) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->run(Until::done);
}
tutti_status_t tutti_session_run_async(tutti_session_t *session) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->run(Until::started);
}
tutti_status_t tutti_session_wait(tutti_session_t *session) {
  return !session ? TUTTI_INVALID_ARGUMENT : unwrap(session)->wait();
}
