// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sessions: arrays are bound, and a run's answers are new arrays unless the caller gives some.
#include "Session.h"

#include "Arguments.h"
#include "Artifact.h"
#include "Unlocked.h"

#include <chrono>
#include <numeric>
#include <unistd.h>

namespace tutti::python {

/// A call of the session's: no other one begins meanwhile.
class SessionOfArrays::Use {
public:
  explicit Use(SessionOfArrays &session) : session(session) {
    session.requireOwnProcess();
    session.requireOpen();
    if (session.inUse)
      session.failBusy();
    session.user = std::this_thread::get_id();
    session.inUse = true;
  }
  Use(const Use &) = delete;
  ~Use() { session.inUse = false; }

private:
  SessionOfArrays &session;
};

/// The session's end: other calls are refused from now on, unless this fails, and that of another thread is waited for.
class SessionOfArrays::Closing {
public:
  explicit Closing(SessionOfArrays &session) : session(session) {
    session.requireOwnProcess();
    ++session.closing;
    try {
      while (session.inUse)
        wait();
    } catch (...) {
      --session.closing;
      throw;
    }
    session.user = std::this_thread::get_id();
    session.inUse = true; // another one that closes it waits
  }
  Closing(const Closing &) = delete;
  ~Closing() {
    session.inUse = false;
    --session.closing;
  }

private:
  /// Returns once the other thread's call has ended, or after a while, so that somebody may press ^C. It sleeps and
  /// asks again: a condition variable that a thread waits on cannot be destroyed in a child of fork().
  void wait() {
    if (session.user == std::this_thread::get_id())
      session.failBusy();
    // Threads that are in a call when the interpreter ends never leave it.
    nb::handle isFinalizing = PySys_GetObject("is_finalizing");
    if (!isFinalizing || isFinalizing.is_none() || nb::cast<bool>(isFinalizing()))
      session.failBusy();
    unlocked([&] {
      for (int i = 0; i < 50 && session.inUse; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return true;
    });
    if (PyErr_CheckSignals())
      throw nb::python_error();
  }

  SessionOfArrays &session;
};

/// Inputs of one call; afterwards those that stand are bound again, and others are let go.
class SessionOfArrays::OtherInputs {
public:
  explicit OtherInputs(SessionOfArrays &session) : session(session) {}
  OtherInputs(const OtherInputs &) = delete;
  ~OtherInputs() {
    for (size_t i = before.size(); i-- > 0;)
      session.rebind(*before[i].first, std::move(before[i].second));
  }

  void bind(nb::handle name, nb::handle array) {
    const std::string bytes = bytesOf(name);
    for (Input &input : session.inputs)
      if (input.name == bytes)
        before.emplace_back(&input, input.bound);
    session.bind(name, array, Array::For::copying);
  }

private:
  SessionOfArrays &session;
  std::vector<std::pair<Input *, std::optional<Bound>>> before;
};

/// Outputs of one call, new ones or the caller's; afterwards those that stand are bound again, and others are let go.
class SessionOfArrays::OtherOutputs {
public:
  explicit OtherOutputs(SessionOfArrays &session) : session(session) {}
  OtherOutputs(const OtherOutputs &) = delete;
  ~OtherOutputs() {
    for (auto &[output, bound] : before) {
      (void)static_cast<bool>(session.session.bindOutput(output->head, bound.array.tensor(output->name.c_str())));
      output->bound = std::move(bound);
      output->standing = true;
    }
    for (Output &output : session.outputs)
      if (!output.standing)
        output.bound.reset();
  }

  void bind(Output &output, Bound bound) {
    std::optional<Bound> stands = output.standing ? output.bound : std::nullopt;
    session.bind(output, std::move(bound));
    if (stands)
      before.emplace_back(&output, std::move(*stands));
  }

private:
  SessionOfArrays &session;
  std::vector<std::pair<Output *, Bound>> before;
};

SessionOfArrays::SessionOfArrays(Artifact &artifact, const tutti_session_options_t &options) : process(getpid()) {
  Result<tutti::Session> created = unlocked([&] { return tutti::Session::create(artifact, options); });
  session = check(std::move(created));
  for (const tutti_port_t &port : artifact.inputs(options.program))
    inputs.push_back({port.name, {}});
  for (const tutti_port_t &port : artifact.outputs(options.program)) {
    Output output{port.name, port.head, port.name, "", port.dtype, {}};
    if (output.head != "members")
      output.key += "." + output.head;
    for (const Output &other : outputs)
      if (other.key == output.key)
        fail(TUTTI_INVALID_ARGUMENT, "two outputs would be called '" + output.key + "'");
    output.what = "output '" + output.key + "'";
    outputs.push_back(std::move(output));
  }
  standing.resize(artifact.members().size());
  std::iota(standing.begin(), standing.end(), 0);
  current = standing;
  described = describe(artifact.programs()[options.program]);
}

void SessionOfArrays::requireOpen() const {
  if (!session.get() || closing)
    fail(TUTTI_INVALID_ARGUMENT, "the session is closed");
}

void SessionOfArrays::requireOwnProcess() const {
  if (inUse && getpid() != process)
    fail(TUTTI_FORKED, "the session was in use when this process was forked; make one in the child");
}

void SessionOfArrays::failBusy() const {
  fail(TUTTI_BUSY, "another call of the session is under way; make a session for each thread");
}

/// Puts a binding in the place of another one, which lives on as long as a run may use it.
void SessionOfArrays::keep(std::optional<Bound> &place, std::optional<Bound> bound) {
  if (place && inFlight)
    retired.push_back(std::move(*place));
  place = std::move(bound);
}

void SessionOfArrays::bind(nb::handle name, nb::handle object, Array::For use) {
  const std::string bytes = bytesOf(name);
  Bound bound{Array::of(object, "input '" + bytes + "'", use), nb::borrow(object)};
  check(session.bindInput(bound.array.tensor(bytes.c_str())));
  for (Input &input : inputs)
    if (input.name == bytes)
      keep(input.bound, std::move(bound));
}

void SessionOfArrays::letGo(nb::handle name) {
  const std::string bytes = bytesOf(name);
  check(session.unbindInput(bytes));
  for (Input &input : inputs)
    if (input.name == bytes)
      keep(input.bound, {});
}

void SessionOfArrays::rebind(Input &input, std::optional<Bound> bound) {
  if (bound && session.bindInput(bound->array.tensor(input.name.c_str())))
    bound.reset();
  if (!bound) // while a run that has not ended reads it, it is kept
    (void)static_cast<bool>(session.unbindInput(input.name));
  keep(input.bound, std::move(bound));
}

void SessionOfArrays::bind(Output &output, Bound bound) {
  check(session.bindOutput(output.head, bound.array.tensor(output.name.c_str())));
  keep(output.bound, std::move(bound));
  output.standing = false;
}

/// A new array for what the next run says.
void SessionOfArrays::bindNew(Output &output) {
  auto now = check(session.output(output.name, output.head));
  nb::object object;
  Array array = Array::empty(output.dtype, now.dims(), output.what, &object);
  bind(output, {std::move(array), std::move(object)});
}

void SessionOfArrays::giveBack(Output &output) {
  tutti_tensor_t none = {};
  none.name = output.name.c_str();
  check(session.bindOutput(output.head, none));
  keep(output.bound, {});
  output.standing = false;
}

SessionOfArrays::Output &SessionOfArrays::outputOf(nb::handle key) {
  const std::string bytes = bytesOf(key);
  std::string there;
  for (Output &output : outputs) {
    if (output.key == bytes)
      return output;
    there += (there.empty() ? "'" : ", '") + output.key + "'";
  }
  fail(TUTTI_NOT_FOUND, "there is no output '" + bytes + "'; the program has " + there);
}

/// The set of the runs to come, until another one is wanted: one that stays costs nothing.
void SessionOfArrays::activate(const std::vector<uint32_t> &set) {
  if (set == current)
    return;
  std::vector<uint32_t> copy = set; // what may fail comes first
  check(session.setActive(set));
  current = std::move(copy);
}

void SessionOfArrays::requireInputs() const {
  for (const Input &input : inputs)
    if (!input.bound)
      fail(TUTTI_NOT_BOUND, "input '" + input.name + "' is missing: give it to run, or bind it");
}

nb::dict SessionOfArrays::run(nb::handle given, nb::handle active, nb::handle out) {
  Use use(*this);
  const nb::dict arrays = dictOf(given, "inputs"), theirs = dictOf(out, "out");
  activate(active.is_none() ? standing : membersOf(active));
  OtherInputs others(*this);
  for (auto [name, array] : arrays)
    others.bind(name, array);
  requireInputs();

  OtherOutputs places(*this);
  std::vector<bool> isTheirs(outputs.size());
  for (auto [key, array] : theirs) {
    Output &output = outputOf(key);
    places.bind(output, {Array::of(array, output.what, Array::For::writing), nb::borrow(array)});
    isTheirs[size_t(&output - outputs.data())] = true;
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].standing && !isTheirs[i])
      bindNew(outputs[i]);

  check(unlocked([&] { return session.run(); }));
  inFlight = false;
  retired.clear();
  nb::dict answers;
  for (Output &output : outputs)
    answers[textOf(output.key.c_str())] = output.bound->object;
  return answers;
}

void SessionOfArrays::runAsync() {
  // What a loop without an end has bound would pile up.
  constexpr size_t mostRetired = 64;
  Use use(*this);
  requireInputs();
  activate(standing);
  // What the last run returned is its caller's; the runtime has it bound still.
  for (Output &output : outputs)
    if (!output.standing)
      giveBack(output);
  if (retired.size() >= mostRetired)
    waitForAll();
  inFlight = session.device().device != TUTTI_DEVICE_CPU;
  check(unlocked([&] { return session.runAsync(); }));
}

void SessionOfArrays::wait() {
  Use use(*this);
  waitForAll();
}

void SessionOfArrays::waitForAll() {
  check(unlocked([&] { return session.wait(); }));
  inFlight = false;
  retired.clear();
}

void SessionOfArrays::bindInput(nb::handle name, nb::handle array) {
  Use use(*this);
  if (array.is_none())
    return letGo(name);
  bind(name, array, Array::For::reading);
}

void SessionOfArrays::bindOutput(nb::handle key, nb::handle array) {
  Use use(*this);
  Output &output = outputOf(key);
  if (array.is_none())
    return giveBack(output);
  bind(output, {Array::of(array, output.what, Array::For::writing), nb::borrow(array)});
  output.standing = true;
}

void SessionOfArrays::setActive(nb::handle members) {
  Use use(*this);
  std::vector<uint32_t> set = membersOf(members);
  activate(set);
  standing = std::move(set);
}

void SessionOfArrays::setDimension(nb::handle name, int64_t value) {
  Use use(*this);
  check(session.setDimension(bytesOf(name), value));
}

nb::object SessionOfArrays::device() const {
  requireOpen();
  const tutti_device_info_t &device = session.device();
  return nb::module_::import_("tutti.info")
      .attr("Device")(textOf(device.name), tutti_device_name(device.device), device.ordinal);
}

void SessionOfArrays::close() {
  if (!session.get())
    return;
  Closing closing(*this);
  unlocked([ended = std::move(session)]() mutable {
    ended = {};
    return true;
  });
  retired.clear();
  for (Input &input : inputs)
    input.bound.reset();
  for (Output &output : outputs)
    output.bound.reset();
}

std::string SessionOfArrays::text() const {
  if (!session.get())
    return "<tutti.Session, closed>";
  return std::string("<tutti.Session on ") + tutti_device_name(session.device().device) + ", " + session.device().name +
         ">";
}

} // namespace tutti::python
