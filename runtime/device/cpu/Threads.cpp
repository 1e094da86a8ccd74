// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Affinity, and the quotas of cgroups.
#include "Threads.h"

#include "../../core/Engine.h"
#include "../../core/Memory.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sched.h>

namespace tutti::rt {

namespace {
/// Two numbers that a file starts with; false if it does not ("max" is no number).
bool readNumbers(const char *path, double &first, double &second) {
  FILE *file = std::fopen(path, "re");
  bool read = file && std::fscanf(file, "%lf %lf", &first, &second) >= 1;
  if (file)
    std::fclose(file);
  return read;
}

/// The least of some quotas, in whole CPUs; 0 for none.
struct Quota {
  uint32_t cpus = 0;
  void consider(double quota, double period) {
    if (!(quota > 0) || !(period > 0))
      return;
    auto whole = uint32_t(std::clamp(std::ceil(quota / period), 1.0, double(kMaxThreads)));
    cpus = cpus ? std::min(cpus, whole) : whole;
  }
};

/// Of this process's cgroup, or of one above it.
uint32_t cgroupQuota() {
  constexpr char root[] = "/sys/fs/cgroup", file[] = "/cpu.max";
  char line[2048], path[sizeof(root) + sizeof(line) + sizeof(file)];
  Quota least;
  double quota = 0, period = 0;
  if (FILE *self = std::fopen("/proc/self/cgroup", "re")) {
    while (std::fgets(line, sizeof(line), self)) {
      char *group = line + 3; // "0::/a/b": /a/b, /a, and the root
      if (std::strncmp(line, "0::", 3) != 0)
        continue;
      for (char *end = std::strchr(group, '\n'); end; end = std::strrchr(group, '/')) {
        *end = '\0';
        std::snprintf(path, sizeof(path), "%s%s%s", root, group, file);
        if (readNumbers(path, quota, period))
          least.consider(quota, period);
      }
    }
    std::fclose(self);
  }
  double ignored;
  if (readNumbers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota, ignored) &&
      readNumbers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, ignored))
    least.consider(quota, period);
  return least.cpus;
}
} // namespace

uint32_t defaultThreads() {
  uint32_t cpus = 1;
  // The kernel refuses a set that is smaller than its own, whose size nothing tells.
  for (size_t count = 1; count <= 64; count *= 2) {
    Array<cpu_set_t> sets;
    if (!sets.allocate(count))
      break;
    size_t bytes = count * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, sets.data()) == 0) {
      cpus = uint32_t(std::max(1, CPU_COUNT_S(bytes, sets.data())));
      break;
    }
    if (errno != EINVAL)
      break;
  }
  uint32_t quota = cgroupQuota();
  return std::min(quota ? std::min(cpus, quota) : cpus, kMaxThreads);
}

} // namespace tutti::rt
