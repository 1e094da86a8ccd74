// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs an artifact from C++: the whole ensemble, then its first member alone.
#include <algorithm>
#include <cstdio>
#include <tutti/tutti.hpp>

static int fail(const tutti::Error &error) {
  std::fprintf(stderr, "embed-cpp: %s\n", error.message().c_str());
  return error.exitCode();
}

static tutti::Error print(tutti::Session &session, const tutti_port_t &port) {
  auto output = session.output(port.name, port.head);
  if (!output)
    return output.error();
  std::printf("  %s.%s [", port.name, port.head);
  for (int64_t dim : output->dims())
    std::printf(" %lld", static_cast<long long>(dim));
  std::printf(" ]");
  for (float value : output->as<float>().first(std::min<size_t>(3, output->as<float>().size())))
    std::printf(" %g", value);
  std::printf("\n");
  return {};
}

int main(int argc, char **argv) {
  auto artifact = tutti::Artifact::open(argc > 1 ? argv[1] : "ensemble.tutti");
  if (!artifact)
    return fail(artifact.error());
  auto session = tutti::Session::create(*artifact, 2); // threads
  if (!session)
    return fail(session.error());

  const uint32_t everyone = artifact->info().num_members;
  std::vector<uint32_t> active(everyone);
  for (uint32_t m = 0; m < everyone; ++m)
    active[m] = m;
  std::vector<std::vector<float>> inputs; // of both runs: what is bound stays alive
  for (auto members : {std::span(active), std::span(active).first(1)}) {
    if (auto error = session->setActive(members))
      return fail(error);
    for (const tutti_port_t &port : artifact->inputs()) {
      std::vector<int64_t> dims;
      size_t size = 1;
      for (int32_t d = 0; d < port.rank; ++d)
        size *= size_t(dims.emplace_back(port.per_member && d == 0 ? int64_t(members.size()) : port.dims[d].lo));
      inputs.emplace_back(size, 0.5f); // the smallest batch; the elements stay where they are
      if (auto error = session->bindInput<float>(port.name, inputs.back(), dims))
        return fail(error);
    }
    if (auto error = session->run())
      return fail(error);
    std::printf("%zu of %u members\n", members.size(), everyone);
    for (const tutti_port_t &port : artifact->outputs())
      if (auto error = print(*session, port))
        return fail(error);
  }
}
