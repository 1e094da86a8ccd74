// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti.Session as Python has it, and Artifact.session, which makes one.
#include "Arguments.h"
#include "Session.h"
#include "Unlocked.h"

#include <nanobind/stl/vector.h>

#include <algorithm>

namespace tutti::python {

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
  for (auto [name, shape] : dictOf(shapes, "shapes", "shapes")) {
    names.push_back(bytesOf(name));
    auto inputs = artifact.inputs();
    if (std::none_of(inputs.begin(), inputs.end(), [&](auto &input) { return names.back() == input.name; }))
      fail(TUTTI_NOT_FOUND, "shapes has '" + names.back() + "', which is no input of the artifact");
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
target: CPU code, and with it the device: "x86-64-v3", "x86-64-v4" ... or "cpu", the best that this CPU runs; None:
    that, where the device is a CPU.
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
    session's device's. No type is converted; strided and big-endian arrays of the host's memory are copied. What is not
    given is what `bind_input` has bound.
active: members of this call, in the order that member axes get; None: those of `Session.active`.
out: arrays to write, by key; they are returned. Other outputs are new arrays of NumPy, or what `bind_output` has bound.)")
      .def("bind_input", &SessionOfArrays::bindInput, "name"_a, "array"_a.none(),
           nb::sig("def bind_input(self, name: str, array: typing.Any | None) -> None"),
           "Binds a dense array, which every run reads where it lies, until another is bound; None lets it go.")
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
      .def_prop_ro("device", &SessionOfArrays::device, nb::sig("def device(self) -> Device"), "What it runs on.")
      .def_prop_ro("program", &SessionOfArrays::program, nb::sig("def program(self) -> Program"),
                   "The program that it runs, with its inputs and outputs.")
      .def("close", &SessionOfArrays::close,
           "Frees its memory and lets bound arrays go. What `run_async` started is waited for, and so is a call of "
           "another\n"
           "thread; later ones are refused.")
      .def("__repr__", &SessionOfArrays::text)
      .def(
          "__enter__",
          [](nb::handle self) {
            nb::cast<SessionOfArrays &>(self).requireOpen();
            return nb::borrow(self);
          },
          nb::sig("def __enter__(self) -> Session"))
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
