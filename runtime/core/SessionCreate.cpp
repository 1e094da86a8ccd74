// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making and ending sessions. Everything here may allocate.
#include "Choose.h"
#include "Session.h"

namespace tutti::rt {

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
  tutti_device_t asked;
  if (auto status = checkAsked(info, options, asked, error))
    return status;
  const tutti_program_t &description = info.programs[options.program];
  if (!isFor(description, asked)) {
    for (uint32_t p = 0; p < info.num_programs; ++p)
      if (isFor(info.programs[p], asked))
        return fail(error, TUTTI_INVALID_ARGUMENT, "program %u is for the device '%s', but program %u is for '%s'",
                    options.program, nameOf(description.device), p, nameOf(asked));
    return noProgram(info, options.program, asked, error);
  }
  call.program = artifact.root().programs()->Get(options.program);
  if (auto status = checkRunnable(*call.program, error))
    return status;
  if (options.verify_weights)
    if (auto status = artifact.verifyWeights(Artifact::Segments::all, error))
      return status;
  if (!guard.build() || !call.build(description) || !chosen.allocate(call.sizes.size()) ||
      !marks.allocate(call.active.size()) || !byAddress.allocate(call.ports.size()))
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
