// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sessions: arrays are bound, and a run's answers are new arrays unless the caller gives some.
#include "Session.h"

#include "Artifact.h"
#include "Unlocked.h"

#include <nanobind/stl/vector.h>
#include <numeric>
#include <unistd.h>

namespace tutti::python {

/// A call of the session's: no other one begins meanwhile.
class SessionOfArrays::Use {
public:
  explicit Use(SessionOfArrays &session) : session(session) {
    session.requireOpen();
    if (session.inUse && getpid() != session.process)
      fail(TUTTI_FORKED, "the session was in use when this process was forked; make one in the child");
    if (session.inUse)
      fail(TUTTI_BUSY, "another call of the session is under way; make a session for each thread");
    session.inUse = true;
  }
  Use(const Use &) = delete;
  ~Use() { session.inUse = false; }

private:
  SessionOfArrays &session;
};

/// The active set of one call; afterwards the standing one is active again.
class SessionOfArrays::OtherSet {
public:
  OtherSet(SessionOfArrays &session, nb::handle members) : session(session), other(!members.is_none()) {
    if (other)
      check(session.session.setActive(membersOf(members)));
  }
  OtherSet(const OtherSet &) = delete;
  ~OtherSet() {
    // It was active before: it cannot fail but where every call does, by a lost device.
    if (other)
      (void)static_cast<bool>(session.session.setActive(session.standing));
  }

private:
  SessionOfArrays &session;
  bool other;
};

/// Inputs that a call is given; where it fails, those that were bound before are bound again.
class SessionOfArrays::OtherInputs {
public:
  explicit OtherInputs(SessionOfArrays &session) : session(session) {}
  OtherInputs(const OtherInputs &) = delete;
  ~OtherInputs() {
    for (size_t i = kept ? 0 : before.size(); i-- > 0;)
      session.rebind(*before[i].first, std::move(before[i].second));
  }

  void bind(nb::handle name, nb::handle array) {
    const std::string bytes = bytesOf(name);
    for (Input &input : session.inputs)
      if (input.name == bytes)
        before.emplace_back(&input, input.bound);
    session.bind(name, array, Array::For::copying);
  }
  void keep() { kept = true; }

private:
  SessionOfArrays &session;
  std::vector<std::pair<Input *, std::optional<Bound>>> before;
  bool kept = false;
};

/// Outputs of one call, new ones or the caller's; afterwards those that stand are bound again.
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
  described = describe(artifact.programs()[options.program]);
}

void SessionOfArrays::requireOpen() const {
  if (!session.get())
    fail(TUTTI_INVALID_ARGUMENT, "the session is closed");
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

void SessionOfArrays::rebind(Input &input, std::optional<Bound> bound) {
  if (bound && session.bindInput(bound->array.tensor(input.name.c_str())))
    bound.reset();
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

void SessionOfArrays::requireInputs() const {
  for (const Input &input : inputs)
    if (!input.bound)
      fail(TUTTI_NOT_BOUND, "input '" + input.name + "' is missing: give it to run, or bind it");
}

nb::dict SessionOfArrays::run(nb::handle given, nb::handle active, nb::handle out) {
  Use use(*this);
  const nb::dict arrays = dictOf(given, "inputs"), theirs = dictOf(out, "out");
  OtherSet set(*this, active);
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
  others.keep();
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
  // What the last run returned is its caller's.
  for (Output &output : outputs)
    if (output.bound && !output.standing)
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
  check(session.setActive(set));
  standing = std::move(set);
}

void SessionOfArrays::setDimension(nb::handle name, int64_t value) {
  Use use(*this);
  check(session.setDimension(bytesOf(name), value));
}

nb::object SessionOfArrays::device() const {
  requireOpen();
  const tutti_device_info_t &device = session.device();
  return nb::module_::import_("tutti.info").attr("Device")(textOf(device.name), kindOf(device.device), device.ordinal);
}

void SessionOfArrays::close() {
  if (!session.get())
    return;
  Use use(*this);
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
  return std::string("<tutti.Session on ") + kindOf(session.device().device) + ", " + session.device().name + ">";
}

/// Chooses the program by what the caller says: its number, the inputs' shapes, or the device alone.
static void choose(Artifact &artifact, tutti_session_options_t &options, nb::handle program, nb::handle shapes) {
  const size_t programs = artifact.programs().size();
  if (!program.is_none()) {
    if (!shapes.is_none())
      fail(TUTTI_INVALID_ARGUMENT, "program and shapes both say which program: expected one of them");
    if (!nb::try_cast(program, options.program) || options.program >= programs)
      fail(TUTTI_NOT_FOUND, "there is no program " + nb::cast<std::string>(nb::repr(program)) +
                                "; the artifact has 0 to " + std::to_string(programs - 1));
    return;
  }
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> dims;
  for (auto [name, shape] : dictOf(shapes, "shapes")) {
    names.push_back(bytesOf(name));
    if (!nb::try_cast(shape, dims.emplace_back()))
      fail(TUTTI_INVALID_ARGUMENT, "the shape of '" + names.back() + "' is no sequence of numbers");
  }
  std::vector<tutti_tensor_t> tensors;
  for (size_t i = 0; i < names.size(); ++i) {
    tutti_tensor_t &tensor = tensors.emplace_back();
    tensor.name = names[i].c_str();
    tensor.rank = int32_t(dims[i].size());
    tensor.dims = dims[i].data();
  }
  check(unlocked([&] { // starts a driver, maybe
    return tensors.empty() ? artifact.chooseDevice(options) : artifact.chooseProgram(tensors, options);
  }));
}

static SessionOfArrays *create(Artifact &artifact, uint32_t threads, nb::handle device, nb::handle program,
                               nb::handle shapes, nb::handle target, nb::handle stream, nb::handle context,
                               bool verifyWeights) {
  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
  options.threads = threads;
  chooseDevice(options, device);
  options.verify_weights = verifyWeights;
  const std::string level = target.is_none() ? "" : bytesOf(target);
  options.target = target.is_none() ? nullptr : level.c_str();
  auto handle = [](nb::handle given, const char *what) {
    uintptr_t value = 0;
    if (!given.is_none() && !nb::try_cast(given, value))
      fail(TUTTI_INVALID_ARGUMENT,
           std::string(what) + " is " + nb::cast<std::string>(nb::repr(given)) + ", expected a handle: a number");
    return reinterpret_cast<void *>(value);
  };
  options.context = handle(context, "context");
  options.stream = handle(stream, "stream");
  choose(artifact, options, program, shapes);
  // Frameworks write tensors on the default stream, CU_STREAM_LEGACY, unless told otherwise, and call it 0.
  const bool onGpu = options.device == TUTTI_DEVICE_DEFAULT
                         ? artifact.programs()[options.program].device == TUTTI_DEVICE_CUDA
                         : options.device != TUTTI_DEVICE_CPU;
  if (onGpu && !options.stream)
    options.stream = reinterpret_cast<void *>(uintptr_t(1));
  return new SessionOfArrays(artifact, options);
}

void bindSession(nb::module_ &module) {
  using namespace nb::literals;
  nb::borrow<nb::class_<Artifact>>(nb::type<Artifact>())
      .def("session", create, nb::kw_only(), "threads"_a = 0, "device"_a = nb::none(), "program"_a = nb::none(),
           "shapes"_a = nb::none(), "target"_a = nb::none(), "stream"_a = nb::none(), "context"_a = nb::none(),
           "verify_weights"_a = false, nb::rv_policy::take_ownership,
           nb::sig("def session(self, *, threads: int = 0, device: str | None = None, program: int | None = None, "
                   "shapes: collections.abc.Mapping[str, collections.abc.Sequence[int]] | None = None, "
                   "target: str | None = None, stream: int | None = None, context: int | None = None, "
                   "verify_weights: bool = False) -> Session"),
           R"(Makes a session, with all the memory that its runs need; all members are active.

threads: that a run uses, the caller among them; 0: one for each CPU of the process.
device: "cpu", "cuda", "cuda:1" ... or "emulated"; None: the first of cuda, cpu that the artifact has code for and the machine can run.
program: one of `programs`; None: the first that the device can run, of those that take inputs of these `shapes`.
target: the level of CPU code, "x86-64-v3", "x86-64-v4" ...; None: the best that this CPU runs.
stream: a CUstream to work on, as torch.cuda.Stream.cuda_stream has it; None or 0: the default stream, so that tensors
    written and read there need no waiting. It outlives the session.
context: a CUcontext to work in; None: the stream's, or the device's primary context.
verify_weights: compares the weights' digests first.)");
  nb::class_<SessionOfArrays>(module, "Session", nb::is_weak_referenceable(),
                              "Runs an artifact; `Artifact.session` makes one. Used by one thread at a time.")
      .def("run", &SessionOfArrays::run, "inputs"_a = nb::none(), nb::kw_only(), "active"_a = nb::none(),
           "out"_a = nb::none(),
           nb::sig("def run(self, inputs: collections.abc.Mapping[str, typing.Any] | None = None, *, active: "
                   "collections.abc.Iterable[typing.SupportsIndex] | None = None, out: collections.abc.Mapping[str, "
                   "typing.Any] | None = None) -> "
                   "dict[str, typing.Any]"),
           R"(Runs the active members and returns all outputs by their keys (`tutti.Port.key`): "y", "y.mean".

inputs: arrays by name: of NumPy, or of any library with DLPack (PyTorch, JAX, CuPy ...), in the host's memory or the
    session's device's. Nothing is converted but strided arrays of NumPy, which are copied. What is not given is what was
    bound before, by `bind_input` or by another run.
active: members of this call, in the order that member axes get; None: those of `Session.active`.
out: arrays to write, by key; they are returned. Other outputs are new arrays of NumPy, or what `bind_output` has bound.)")
      .def("bind_input", &SessionOfArrays::bindInput, "name"_a, "array"_a.none(),
           nb::sig("def bind_input(self, name: str, array: typing.Any) -> None"),
           "Binds a dense array, which every run reads where it lies, until another is bound.")
      .def("bind_output", &SessionOfArrays::bindOutput, "key"_a, "array"_a.none(),
           nb::sig("def bind_output(self, key: str, array: typing.Any | None) -> None"),
           "Binds a dense array, which every run writes and returns; None takes it back.")
      .def("run_async", &SessionOfArrays::runAsync,
           "Starts a run of what is bound and returns: on a CUDA device its work is on the session's stream. Outputs "
           "that are\n"
           "bound are there after `wait`, those in the device's memory in the order of the stream. On a CPU it is a "
           "run.")
      .def("wait", &SessionOfArrays::wait, "Returns when all runs have ended and their outputs are there.")
      .def_prop_rw(
          "active", &SessionOfArrays::active, &SessionOfArrays::setActive,
          nb::for_getter(nb::sig("def active(self) -> list[int]")),
          nb::for_setter(nb::sig("def active(self, members: collections.abc.Iterable[typing.SupportsIndex]) -> None")),
          "The members that runs compute which name none, in the order that member axes get.")
      .def("set_dimension", &SessionOfArrays::setDimension, "name"_a, "value"_a,
           nb::sig("def set_dimension(self, name: str, value: int) -> None"),
           "Sets a dimension that no input has; 0 takes it back.")
      .def_prop_ro("device", &SessionOfArrays::device, nb::sig("def device(self) -> tutti.info.Device"),
                   "What it runs on.")
      .def_prop_ro("program", &SessionOfArrays::program, nb::sig("def program(self) -> tutti.info.Program"),
                   "The program that it runs, with its inputs and outputs.")
      .def("close", &SessionOfArrays::close,
           "Frees its memory and lets bound arrays go; what `run_async` started is waited for.")
      .def("__repr__", &SessionOfArrays::text)
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Session"))
      .def(
          "__exit__",
          [](SessionOfArrays &session, nb::handle type, nb::handle, nb::handle) {
            try {
              session.close();
            } catch (nb::python_error &) {
              if (type.is_none()) // what is on its way says more
                throw;
            }
          },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none(),
          nb::sig("def __exit__(self, type: typing.Any, value: typing.Any, traceback: typing.Any) -> None"));
}

} // namespace tutti::python
