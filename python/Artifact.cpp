// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Artifacts: what they say of themselves, and new weights.
#include "Artifact.h"

#include "Arguments.h"
#include "Array.h"
#include "Unlocked.h"

#include <nanobind/stl/filesystem.h>

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
  return info("Program", program.entry, program.precision, kindOf(program.device),
              all(std::span(program.targets, program.num_targets), textOf), dimensions,
              ports(program.inputs, program.num_inputs), ports(program.outputs, program.num_outputs), program.launches,
              program.arena_bytes);
}

static nb::object describe(const tutti_weight_t &weight) {
  return info("Weight", textOf(weight.name), tutti_dtype_name(weight.dtype),
              all(std::span(weight.dims, size_t(weight.rank)), [](int64_t dim) { return nb::int_(dim); }),
              weight.group < 0 ? nb::object(nb::none()) : nb::int_(weight.group), weight.shared, weight.swappable);
}

static Artifact load(const std::filesystem::path &path) {
  Result<Artifact> artifact = unlocked([&] { return Artifact::open(path.string()); });
  if (const Error &error = artifact.error())
    fail(error.status(), error.message(), {}, true);
  return std::move(*artifact);
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
  module.def("load", load, "path"_a, nb::sig("def load(path: str | os.PathLike[str]) -> Artifact"),
             "Opens an artifact and checks it. The file is mapped: replace it by rename, do not write into it.\n\n"
             "An artifact is code: load only what you trust.");
}

} // namespace tutti::python
