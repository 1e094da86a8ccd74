// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the hand-built artifact to a file, and an input for it: for tests of the tools and the examples.
#include "ArtifactBuilder.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: make-artifact FILE.tutti [MEMBERS]\n"), 2;
  tutti::rt::test::Spec spec;
  if (argc > 2)
    spec.members = uint32_t(std::atoi(argv[2]));
  tutti::rt::test::buildArtifact(spec).write(argv[1]);
  return 0;
}
