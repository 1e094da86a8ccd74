// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Architecture names into compute capabilities, and what fits what.
#include "Image.h"

#include <charconv>
#include <elf.h>

namespace tutti::rt {

int fitOf(std::string_view target, int major, int minor) {
  bool ptx = target.starts_with("compute_");
  if (!ptx && !target.starts_with("sm_"))
    return 0;
  target.remove_prefix(ptx ? 8 : 3);
  int number = 0;
  auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), number);
  std::string_view suffix(end, size_t(target.data() + target.size() - end));
  if (error != std::errc() || number < 10 || number > 9999 || (!suffix.empty() && suffix != "a" && suffix != "f"))
    return 0;
  int wantedMajor = number / 10, wantedMinor = number % 10, exact = number == 10 * major + minor;
  bool family = wantedMajor == major && wantedMinor <= minor;
  if (suffix == "a")
    return !exact ? 0 : ptx ? 20000 : 50000;
  if (suffix == "f")
    return !family ? 0 : (ptx ? 15000 : 40000) + wantedMinor + 100 * exact;
  if (ptx)
    return number <= 10 * major + minor ? number : 0;
  return family ? 30000 + wantedMinor : 0;
}

int fitOfEmulated(std::string_view target, int major, int minor) {
  int number = 90;
  if (target != "emulated") {
    constexpr std::string_view prefix = "emulated-sm_";
    if (!target.starts_with(prefix))
      return 0;
    target.remove_prefix(prefix.size());
    auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), number);
    if (error != std::errc() || end != target.data() + target.size())
      return 0;
  }
  return number > 0 && number <= 10 * major + minor ? number : 0;
}

namespace {
/// "sm_80, sm_90a": what CUDA devices there is any code for.
struct Targets {
  explicit Targets(const fb::Root &root) {
    for (uint32_t k = 0; k < count(root.kernels()); ++k)
      for (uint32_t i = 0; i < count(root.kernels()->Get(k)->images()); ++i)
        add(view(root.kernels()->Get(k)->images()->Get(i)->target()));
  }
  void add(std::string_view target) {
    std::string_view known = list;
    for (size_t at = known.find(target); at != known.npos; at = known.find(target, at + 1))
      if ((at == 0 || known[at - 1] == ' ') && (at + target.size() == known.size() || known[at + target.size()] == ','))
        return;
    if (!target.starts_with("x86-") && used < sizeof(list))
      used += size_t(std::snprintf(list + used, sizeof(list) - used, "%s%.*s", used ? ", " : "",
                                   int(std::min<size_t>(target.size(), 40)), target.data()));
  }
  char list[256] = "";
  size_t used = 0;
};
} // namespace

tutti_status_t chooseImage(const fb::Root &root, uint32_t index, const CudaTarget &device, const fb::Image *&image,
                           int &best, tutti_error_t *error) {
  const fb::Kernel &kernel = *root.kernels()->Get(index);
  image = nullptr;
  best = 0;
  int needed = 0;
  for (uint32_t i = 0; i < count(kernel.images()); ++i) {
    const fb::Image &candidate = *kernel.images()->Get(i);
    std::string_view target = view(candidate.target());
    int fit = (device.emulated ? fitOfEmulated : fitOf)(target, device.major, device.minor);
    if (fit && candidate.min_driver() > uint32_t(device.driver)) {
      needed = needed ? std::min(needed, int(candidate.min_driver())) : int(candidate.min_driver());
      continue;
    }
    if (fit > best)
      best = fit, image = &candidate;
  }
  if (image)
    return TUTTI_OK;
  if (needed)
    return fail(error, TUTTI_DRIVER_TOO_OLD,
                "kernel '%.80s' needs a driver for CUDA %d.%d on %s, and this one is for CUDA %d.%d; update the driver",
                text(kernel.name()), needed / 1000, needed % 1000 / 10, device.name, device.driver / 1000,
                device.driver % 1000 / 10);
  Targets has(root);
  const char *list = *has.list ? has.list : "nothing";
  if (device.emulated)
    return fail(error, TUTTI_NO_DEVICE,
                "the artifact has code for %s, none for the emulated device (sm_%d%d); compile with --target emulated",
                list, device.major, device.minor);
  return fail(error, TUTTI_NO_DEVICE, "the artifact has code for %s, which %s cannot run; compile with --target cuda%s",
              list, device.name, std::strncmp(list, "emulated", 8) == 0 ? ", or run it on the device 'emulated'" : "");
}

bool isContained(const char *data, uint64_t bytes, bool ptx) {
  if (ptx)
    return bytes > 0 && data[bytes - 1] == '\0';
  Elf64_Ehdr header;
  if (bytes < sizeof(header))
    return false;
  std::memcpy(&header, data, sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  auto inside = [&](uint64_t offset, uint64_t size) { return offset <= bytes && size <= bytes - offset; };
  if (!inside(header.e_shoff, uint64_t(header.e_shnum) * header.e_shentsize) ||
      !inside(header.e_phoff, uint64_t(header.e_phnum) * header.e_phentsize) || (!header.e_shnum && header.e_shoff) ||
      (header.e_shnum && header.e_shentsize < sizeof(Elf64_Shdr)) ||
      (header.e_phnum && header.e_phentsize < sizeof(Elf64_Phdr)))
    return false;
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, data + header.e_phoff + uint64_t(i) * header.e_phentsize, sizeof(part));
    if (!inside(part.p_offset, part.p_filesz))
      return false;
  }
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, data + header.e_shoff + uint64_t(i) * header.e_shentsize, sizeof(section));
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL && !inside(section.sh_offset, section.sh_size))
      return false;
  }
  return true;
}

} // namespace tutti::rt
