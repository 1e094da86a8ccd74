// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing where to run, and making and ending sessions. Everything here may allocate.
#include "DLPack.h"
#include "Session.h"

namespace tutti::rt {

namespace {
const char *nameOf(tutti_device_t device) {
  constexpr const char *names[] = {"default", "cpu", "cuda", "emulated"};
  return names[device];
}

/// Of the device that the options name, which may be TUTTI_DEVICE_DEFAULT.
bool isFor(const tutti_program_t &program, tutti_device_t device) {
  return device == TUTTI_DEVICE_DEFAULT || (device == TUTTI_DEVICE_CPU) == (program.device == TUTTI_DEVICE_CPU);
}

/// Whether two programs compute the same for the same sizes: for other architectures, then.
bool isSameBinding(const fb::Program &a, const fb::Program &b) {
  if (view(a.entry()) != view(b.entry()) || view(a.precision()) != view(b.precision()) ||
      count(a.sizes()) != count(b.sizes()))
    return false;
  for (uint32_t i = 0; i < count(a.sizes()); ++i) {
    const fb::Size &x = *a.sizes()->Get(i), &y = *b.sizes()->Get(i);
    if (view(x.name()) != view(y.name()) || x.lo() != y.lo() || x.hi() != y.hi())
      return false;
  }
  return true;
}

bool hasSameDimensions(const tutti_program_t &a, const tutti_program_t &b) {
  bool same = a.num_dimensions == b.num_dimensions;
  for (uint32_t i = 0; same && i < a.num_dimensions; ++i) {
    const tutti_dimension_t &x = a.dimensions[i], &y = b.dimensions[i];
    same = x.lo == y.lo && x.hi == y.hi && std::strcmp(x.name, y.name) == 0;
  }
  return same;
}

/// Whether no dim of the inputs is outside of the program's. A name that it has not, or another rank, is for binding to
/// refuse.
bool takes(const tutti_program_t &program, const tutti_tensor_t *inputs, size_t numInputs) {
  for (size_t i = 0; i < numInputs; ++i)
    for (uint32_t p = 0; p < program.num_inputs; ++p) {
      const tutti_port_t &port = program.inputs[p];
      if (!inputs[i].name || std::strcmp(port.name, inputs[i].name) != 0 || port.rank != inputs[i].rank ||
          !inputs[i].dims)
        continue;
      for (int32_t d = port.per_member; d < port.rank; ++d)
        if (inputs[i].dims[d] < port.dims[d].lo || inputs[i].dims[d] > port.dims[d].hi)
          return false;
    }
  return true;
}

/// Whether inputs decide between the artifact's programs.
bool differInDimensions(const tutti_info_t &info) {
  for (uint32_t p = 1; p < info.num_programs; ++p)
    if (!hasSameDimensions(info.programs[0], info.programs[p]))
      return true;
  return false;
}

/// Some program, from `first` on, has to take the inputs.
tutti_status_t checkTaken(const tutti_info_t &info, uint32_t first, const tutti_tensor_t *inputs, size_t numInputs,
                          tutti_error_t *error) {
  if (!numInputs)
    return TUTTI_OK;
  Line<400> given, known;
  for (uint32_t p = first; p < info.num_programs; ++p) {
    const tutti_program_t &program = info.programs[p];
    if (takes(program, inputs, numInputs))
      return TUTTI_OK;
    bool listed = false;
    for (uint32_t q = first; q < p; ++q)
      listed = listed || hasSameDimensions(info.programs[q], program);
    for (uint32_t i = 0; !listed && i < program.num_dimensions; ++i) {
      const tutti_dimension_t &d = program.dimensions[i];
      const char *glue = i ? ", " : p > first ? "; " : "";
      if (d.lo == d.hi)
        known.append("%s%.40s=%lld", glue, d.name, (long long)d.lo);
      else
        known.append("%s%.40s=%lld..%lld", glue, d.name, (long long)d.lo, (long long)d.hi);
    }
  }
  for (size_t i = 0; i < numInputs; ++i)
    if (inputs[i].rank >= 0 && inputs[i].rank <= TUTTI_MAX_RANK && inputs[i].dims)
      given.append("%s'%.60s' %s", i ? ", " : "", inputs[i].name ? inputs[i].name : "",
                   DimsText(inputs[i].dims, uint32_t(inputs[i].rank)).text);
  return fail(error, TUTTI_SHAPE_MISMATCH, "no program takes inputs %s; the artifact was compiled for %s", given.text,
              known.text);
}

tutti_status_t checkDevice(const tutti_session_options_t &options, tutti_error_t *error) {
  return rawOf(options.device) <= TUTTI_DEVICE_EMULATED
             ? TUTTI_OK
             : fail(error, TUTTI_INVALID_ARGUMENT, "there is no device %u, expected one of tutti_device_t",
                    rawOf(options.device));
}

/// None of the programs from the one asked for on.
tutti_status_t noProgram(const tutti_info_t &info, const tutti_session_options_t &options, tutti_error_t *error) {
  tutti_device_t device = options.device;
  for (uint32_t p = 0; p < options.program; ++p)
    if (isFor(info.programs[p], device))
      return fail(error, TUTTI_NO_DEVICE, "no program from %u on is for the device '%s'; program %u is",
                  options.program, nameOf(device), p);
  return fail(error, TUTTI_NO_DEVICE,
              "the artifact has no code for the device '%s', only for '%s'; compile with --target %s", nameOf(device),
              nameOf(info.programs[0].device), nameOf(device));
}
} // namespace

tutti_status_t chooseProgram(Artifact &artifact, const tutti_tensor_t *inputs, size_t numInputs,
                             tutti_session_options_t &options, tutti_error_t *error) {
  const tutti_info_t &info = artifact.info();
  if (auto status = checkDevice(options, error))
    return status;
  if (options.program >= info.num_programs)
    return fail(error, TUTTI_NOT_FOUND, "there is no program %u: the artifact has %u", options.program,
                info.num_programs);
  if (!differInDimensions(info))
    numInputs = 0; // what does not fit, binding says best
  if (auto status = checkTaken(info, options.program, inputs, numInputs, error))
    return status;
  tutti_status_t first = TUTTI_OK; // what the first device says that has code and cannot run it
  tutti_error_t said = {};
  constexpr tutti_device_t order[] = {TUTTI_DEVICE_CUDA, TUTTI_DEVICE_CPU, TUTTI_DEVICE_EMULATED};
  for (tutti_device_t device : order) {
    const fb::Program *best = nullptr;
    tutti_session_options_t chosen = options;
    int bestFit = 0;
    for (uint32_t p = options.program; p < info.num_programs; ++p) {
      bool wanted =
          options.device == device || (options.device == TUTTI_DEVICE_DEFAULT && device != TUTTI_DEVICE_EMULATED);
      const fb::Program &program = *artifact.root().programs()->Get(p);
      if (!wanted || !isFor(info.programs[p], device) || !takes(info.programs[p], inputs, numInputs) ||
          (best && !isSameBinding(*best, program)))
        continue;
      tutti_session_options_t candidate = options;
      candidate.device = device;
      candidate.program = p;
      auto check = device == TUTTI_DEVICE_CPU ? checkCpu : checkCuda;
      int fit = 0;
      tutti_status_t status = check(artifact, program, candidate, fit, best || first ? nullptr : &said);
      if (!status && fit > bestFit) {
        best = &program;
        bestFit = fit;
        chosen = candidate;
      }
      first = first ? first : status;
    }
    if (best) {
      options = chosen;
      return TUTTI_OK;
    }
  }
  if (!first)
    return noProgram(info, options, error);
  if (error)
    *error = said;
  return first;
}

Session *Session::create(Artifact &artifact, const tutti_session_options_t &options, tutti_status_t &status,
                         tutti_error_t *error) {
  Session *session = make<Session>(artifact);
  if (!session) {
    status = outOfMemory(error, "a session", sizeof(Session));
    return nullptr;
  }
  status = session->build(options, error);
  if (!status)
    return session;
  destroy(session);
  return nullptr;
}

void Session::destroy(Session *session) {
  if (!session)
    return;
  bool forked = session->guard.forked();
  if (session->engine && !forked)
    session->engine->wait();
  // In a child of fork(), a lock that nobody will ever give back is worth a leak.
  if (session->registered && !session->call.artifact.weights.remove(session->call.reader))
    return;
  if (session->engine) {
    session->busy.store(true, std::memory_order_relaxed); // to a deleter that calls it
    for (PortState &port : session->call.ports)
      if (!forked)
        session->giveBack(port);
    session->engine->destroy(forked);
  }
  dispose(session);
}

tutti_status_t Session::build(const tutti_session_options_t &options, tutti_error_t *error) {
  Artifact &artifact = call.artifact;
  const tutti_info_t &info = artifact.info();
  if (options.program >= info.num_programs)
    return fail(error, TUTTI_NOT_FOUND, "there is no program %u: the artifact has %u", options.program,
                info.num_programs);
  const tutti_program_t &description = info.programs[options.program];
  if (auto status = checkDevice(options, error))
    return status;
  if (!isFor(description, options.device)) {
    for (uint32_t p = 0; p < info.num_programs; ++p)
      if (isFor(info.programs[p], options.device))
        return fail(error, TUTTI_INVALID_ARGUMENT, "program %u is for the device '%s', but program %u is for '%s'",
                    options.program, nameOf(description.device), p, nameOf(options.device));
    return noProgram(info, options, error);
  }
  call.program = artifact.root().programs()->Get(options.program);
  if (auto status = checkRunnable(*call.program, error))
    return status;
  if (options.verify_weights)
    if (auto status = artifact.verifyWeights(true, error))
      return status;
  if (!guard.build() || !call.build(description) || !chosen.allocate(call.sizes.size()) ||
      !marks.allocate(call.active.size()))
    return outOfMemory(error, "a session's tables", count(call.program->steps()) * sizeof(Call::Launch));
  engine = description.device == TUTTI_DEVICE_CPU ? makeCpuEngine(call) : makeCudaEngine(call);
  if (!engine)
    return outOfMemory(error, "a session's engine", sizeof(Session));
  if (auto status = engine->build(options, error))
    return status;
  registered = artifact.weights.add(call.reader);
  if (!registered)
    return fail(error, TUTTI_FORKED, "the artifact was being changed when this process was forked; open it again");
  return TUTTI_OK;
}

} // namespace tutti::rt
