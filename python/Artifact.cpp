// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Artifacts: what they say of themselves, and new weights.
#include "Artifact.h"

#include "Arguments.h"
#include "Array.h"
#include "Unlocked.h"

#include <nanobind/stl/filesystem.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace tutti::python {

/// A value of tutti/info.py.
template <typename... Fields> static nb::object info(const char *type, Fields &&...fields) {
  return nb::module_::import_("tutti.info").attr(type)(std::forward<Fields>(fields)...);
}

template <typename T, typename Describe> static nb::tuple all(std::span<const T> values, Describe describe) {
  nb::list list;
  for (const T &value : values)
    list.append(describe(value));
  return nb::tuple(list);
}

static nb::object describe(const tutti_port_t &port) {
  return info("Port", textOf(port.name), textOf(port.head), tutti_dtype_name(port.dtype),
              all(std::span(port.dims, size_t(port.rank)),
                  [](const tutti_dim_t &dim) { return info("Dim", textOf(dim.symbol), dim.lo, dim.hi); }),
              port.per_member);
}

nb::object describe(const tutti_program_t &program) {
  nb::dict dimensions;
  for (const tutti_dimension_t &dim : std::span(program.dimensions, program.num_dimensions))
    dimensions[textOf(dim.name)] = nb::make_tuple(dim.lo, dim.hi);
  auto ports = [](const tutti_port_t *ports, uint32_t count) {
    return all(std::span(ports, count), [](const tutti_port_t &port) { return describe(port); });
  };
  return info("Program", program.entry, program.precision, tutti_device_name(program.device),
              all(std::span(program.targets, program.num_targets), textOf), dimensions,
              ports(program.inputs, program.num_inputs), ports(program.outputs, program.num_outputs), program.launches,
              program.arena_bytes);
}

static nb::object describe(const tutti_weight_t &weight) {
  return info("Weight", textOf(weight.name), tutti_dtype_name(weight.dtype),
              all(std::span(weight.dims, size_t(weight.rank)), [](int64_t dim) { return nb::int_(dim); }),
              weight.group < 0 ? nb::object(nb::none()) : nb::int_(weight.group), weight.shared, weight.swappable);
}

static Artifact loadFile(const std::filesystem::path &path) {
  Result<Artifact> artifact = unlocked([&] { return Artifact::open(path.string()); });
  if (const Error &error = artifact.error())
    fail(error.status(), error.message(), {}, textOf(path.c_str()));
  return std::move(*artifact);
}

/// A copy in a file without a name, whose mapping lives as long as the artifact and its sessions.
static Artifact loadBytes(nb::handle source) {
  Py_buffer view;
  if (PyObject_GetBuffer(source.ptr(), &view, PyBUF_SIMPLE))
    throw nb::python_error();
  std::string path;
  int reason = 0;
  Result<Artifact> artifact = unlocked([&]() -> Result<Artifact> {
    const int file = memfd_create("artifact", MFD_CLOEXEC);
    const char *from = static_cast<const char *>(view.buf);
    for (Py_ssize_t left = view.len; file >= 0 && left > 0;) {
      const ssize_t written = ::write(file, from, size_t(left));
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        break;
      from += written;
      left -= written;
    }
    if (file < 0 || from != static_cast<const char *>(view.buf) + view.len)
      reason = errno;
    path = "/proc/self/fd/" + std::to_string(file);
    Result<Artifact> opened = reason ? Result<Artifact>(Error(TUTTI_OUT_OF_MEMORY, "")) : Artifact::open(path);
    if (file >= 0)
      ::close(file);
    return opened;
  });
  PyBuffer_Release(&view);
  if (reason)
    fail(TUTTI_OUT_OF_MEMORY, std::string("there is no memory for the artifact's bytes: ") + std::strerror(reason));
  if (const Error &error = artifact.error()) {
    std::string message = error.message();
    for (size_t at; (at = message.find(path)) != std::string::npos;)
      message.replace(at, path.size(), "bytes");
    fail(error.status(), message);
  }
  return std::move(*artifact);
}

static Artifact load(nb::handle source) {
  if (PyObject_CheckBuffer(source.ptr()))
    return loadBytes(source);
  std::filesystem::path path;
  if (nb::try_cast(source, path))
    return loadFile(path);
  if (nb::isinstance<nb::str>(source) || nb::hasattr(source, "__fspath__"))
    throw nb::value_error("an artifact's path has a null character");
  throw nb::type_error(("an artifact was given as " + std::string(nb::type_name(source.type()).c_str()) +
                        ", expected the path of a file, or its bytes")
                           .c_str());
}

static void swapWeights(Artifact &artifact, uint32_t member, nb::handle weights) {
  nb::dict given = dictOf(weights, "weights");
  std::vector<Array> arrays;
  std::vector<std::string> names;
  for (auto [name, array] : given) {
    names.push_back(bytesOf(name));
    arrays.push_back(Array::of(array, "weight '" + names.back() + "'", Array::For::reading));
  }
  std::vector<tutti_tensor_t> tensors;
  for (size_t i = 0; i < arrays.size(); ++i)
    tensors.push_back(arrays[i].tensor(names[i].c_str()));
  check(unlocked([&] { return artifact.swapWeights(member, tensors); }));
}

void bindArtifact(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<Artifact>(module, "Artifact",
                       "A loaded artifact, which `load` gives. May be used by any number of threads.")
      .def_prop_ro(
          "members",
          [](const Artifact &artifact) {
            return all(artifact.members(), [](const tutti_member_t &member) {
              return info("Member", textOf(member.name), member.group, textOf(member.source), member.digest);
            });
          },
          nb::sig("def members(self) -> tuple[Member, ...]"), "The models of the ensemble.")
      .def_prop_ro(
          "programs",
          [](const Artifact &artifact) {
            return all(artifact.programs(), [](const tutti_program_t &program) { return describe(program); });
          },
          nb::sig("def programs(self) -> tuple[Program, ...]"), "The ways to run it.")
      .def_prop_ro(
          "weights",
          [](const Artifact &artifact) {
            return all(artifact.weights(), [](const tutti_weight_t &weight) { return describe(weight); });
          },
          nb::sig("def weights(self) -> tuple[Weight, ...]"), "Weights that kept their identity.")
      .def_prop_ro(
          "compiler", [](const Artifact &artifact) { return textOf(artifact.info().compiler); },
          nb::sig("def compiler(self) -> str"), "Name and version of the compiler that made it.")
      .def_prop_ro(
          "format", [](const Artifact &artifact) { return artifact.info().format; }, "Version of the file format.")
      .def_prop_ro(
          "share", [](const Artifact &artifact) { return textOf(artifact.info().share); },
          nb::sig("def share(self) -> str"), "\"content\" or \"none\", as it was compiled.")
      .def(
          "verify_weights", [](const Artifact &artifact) { check(unlocked([&] { return artifact.verifyWeights(); })); },
          "Reads all weights and compares their digests; raises DamagedError where one is another.")
      .def("swap_weights", swapWeights, "member"_a, "weights"_a.none(),
           nb::sig("def swap_weights(self, member: int, weights: collections.abc.Mapping[str, typing.Any]) -> None"),
           "Replaces weights of one member, for all its sessions: all together, or none where one does not fit.\n\n"
           "Each has the name, dtype and dims of a swappable one of `weights`, and lies as in the file of member 0, or "
           "of\n"
           "the first member of its structure. The data is copied. A run that is under way sees the old ones.")
      .def("__repr__", [](const Artifact &artifact) {
        return "<tutti.Artifact of " + std::to_string(artifact.members().size()) + " members>";
      });
  module.def("load", load, "source"_a.none(),
             nb::sig("def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Artifact"),
             "Opens an artifact, a file by its path or what was one as bytes, and checks it. A file is mapped: replace "
             "it by\nrename, do not write into it. Bytes are copied.\n\n"
             "An artifact is code: load only what you trust.");
}

} // namespace tutti::python
