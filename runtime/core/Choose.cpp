// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing where to run: a program of the artifact, and the device that runs it.
#include "Choose.h"

namespace tutti::rt {

const char *nameOf(const tutti_device_t &device) {
  constexpr const char *names[] = {"default", "cpu", "cuda", "emulated"};
  return rawOf(device) < std::size(names) ? names[rawOf(device)] : "unknown device";
}

bool isFor(const tutti_program_t &program, tutti_device_t device) {
  return device == TUTTI_DEVICE_DEFAULT || (device == TUTTI_DEVICE_CPU) == (program.device == TUTTI_DEVICE_CPU);
}

tutti_status_t checkAsked(const tutti_info_t &info, const tutti_session_options_t &options, tutti_device_t &asked,
                          tutti_error_t *error) {
  if (rawOf(options.device) > TUTTI_DEVICE_EMULATED)
    return fail(error, TUTTI_INVALID_ARGUMENT, "there is no device %u, expected one of tutti_device_t",
                rawOf(options.device));
  if (options.threads > kMaxThreads)
    return fail(error, TUTTI_INVALID_ARGUMENT, "%u threads were asked for, expected at most %u", options.threads,
                kMaxThreads);
  if (options.target && options.device > TUTTI_DEVICE_CPU)
    return fail(error, TUTTI_INVALID_ARGUMENT, "target '%.80s' is a level of CPUs, and the device is '%s'",
                options.target, nameOf(options.device));
  if (options.program >= info.num_programs)
    return fail(error, TUTTI_NOT_FOUND, "there is no program %u: the artifact has %u", options.program,
                info.num_programs);
  asked = options.target ? TUTTI_DEVICE_CPU : options.device;
  return TUTTI_OK;
}

tutti_status_t noProgram(const tutti_info_t &info, uint32_t first, tutti_device_t device, tutti_error_t *error) {
  for (uint32_t p = 0; p < first; ++p)
    if (isFor(info.programs[p], device))
      return fail(error, TUTTI_NO_DEVICE, "no program from %u on is for the device '%s'; program %u is", first,
                  nameOf(device), p);
  return fail(error, TUTTI_NO_DEVICE,
              "the artifact has no code for the device '%s', only for '%s'; compile with --target %s", nameOf(device),
              nameOf(info.programs[0].device), nameOf(device));
}

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

namespace {
/// Whether two programs of an entry compute the same for the same sizes: for other architectures, then.
bool isSameBinding(const fb::Program &a, const fb::Program &b) {
  if (view(a.precision()) != view(b.precision()) || count(a.sizes()) != count(b.sizes()))
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

/// The programs that a choice has: those of the first one's entry, which have its inputs and outputs, from it on.
struct Candidates {
  const tutti_info_t &info;
  uint32_t first;
  template <typename Visit> void forEach(Visit visit) const {
    for (uint32_t p = first; p < info.num_programs; ++p)
      if (haveOneEntry(info.programs[p], info.programs[first]))
        visit(p, info.programs[p]);
  }
  /// Whether inputs decide between the programs of the entry.
  bool differInDimensions() const {
    bool differ = false;
    for (uint32_t p = 0; p < info.num_programs; ++p)
      differ = differ || (haveOneEntry(info.programs[p], info.programs[first]) &&
                          !hasSameDimensions(info.programs[p], info.programs[first]));
    return differ;
  }
};

/// Some program has to take the inputs.
tutti_status_t checkTaken(const Candidates &candidates, const tutti_tensor_t *inputs, size_t numInputs,
                          tutti_error_t *error) {
  bool taken = !numInputs;
  candidates.forEach(
      [&](uint32_t, const tutti_program_t &program) { taken = taken || takes(program, inputs, numInputs); });
  if (taken)
    return TUTTI_OK;
  Line<400> given, known;
  candidates.forEach([&](uint32_t p, const tutti_program_t &program) {
    bool listed = false;
    candidates.forEach([&](uint32_t q, const tutti_program_t &before) {
      listed = listed || (q < p && hasSameDimensions(before, program));
    });
    for (uint32_t i = 0; !listed && i < program.num_dimensions; ++i) {
      const tutti_dimension_t &d = program.dimensions[i];
      const char *glue = i ? ", " : known.used ? "; " : "";
      if (d.lo == d.hi)
        known.append("%s%.40s=%lld", glue, d.name, (long long)d.lo);
      else
        known.append("%s%.40s=%lld..%lld", glue, d.name, (long long)d.lo, (long long)d.hi);
    }
  });
  for (size_t i = 0; i < numInputs; ++i)
    if (inputs[i].rank >= 0 && inputs[i].rank <= TUTTI_MAX_RANK && inputs[i].dims)
      given.append("%s'%.60s' %s", i ? ", " : "", inputs[i].name ? inputs[i].name : "",
                   DimsText(inputs[i].dims, uint32_t(inputs[i].rank)).text);
  return fail(error, TUTTI_SHAPE_MISMATCH, "no program takes inputs %s; the artifact was compiled for %s", given.text,
              known.text);
}
} // namespace

tutti_status_t chooseProgram(Artifact &artifact, const tutti_tensor_t *inputs, size_t numInputs,
                             tutti_session_options_t &options, tutti_error_t *error) {
  const tutti_info_t &info = artifact.info();
  tutti_device_t asked;
  if (auto status = checkAsked(info, options, asked, error))
    return status;
  Candidates candidates{info, options.program};
  if (!candidates.differInDimensions())
    numInputs = 0; // what does not fit, binding says best
  if (auto status = checkTaken(candidates, inputs, numInputs, error))
    return status;
  tutti_status_t first = TUTTI_OK; // what the first device says that has code and cannot run it
  tutti_error_t said = {};
  constexpr tutti_device_t order[] = {TUTTI_DEVICE_CUDA, TUTTI_DEVICE_CPU, TUTTI_DEVICE_EMULATED};
  for (tutti_device_t device : order) {
    const fb::Program *best = nullptr;
    tutti_session_options_t chosen = options;
    int bestFit = 0;
    bool wanted = asked == device || (asked == TUTTI_DEVICE_DEFAULT && device != TUTTI_DEVICE_EMULATED);
    candidates.forEach([&](uint32_t p, const tutti_program_t &described) {
      const fb::Program &program = *artifact.root().programs()->Get(p);
      if (!wanted || !isFor(described, device) || !takes(described, inputs, numInputs) ||
          (best && !isSameBinding(*best, program)))
        return;
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
    });
    if (best) {
      options = chosen;
      return TUTTI_OK;
    }
  }
  if (!first)
    return noProgram(info, options.program, asked, error);
  if (error)
    *error = said;
  return first;
}

} // namespace tutti::rt
