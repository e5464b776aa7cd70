// SPDX-License-Identifier: Apache-2.0
#include "repl/extension/library_memory.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>

namespace rookery::repl {

namespace {

std::uintptr_t page_size() noexcept {
  static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

struct Segment {
  Range range;
  bool writable, executable;
};

// The segments of all loaded objects (dl_iterate_phdr(3)), in the order of their addresses within an object.
using Objects = std::vector<std::vector<Segment>>;

int add_object(dl_phdr_info* info, std::size_t, void* to) {
  std::vector<Segment> segments;
  for (const ElfW(Phdr)& header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (header.p_type != PT_LOAD || header.p_memsz == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    const std::uintptr_t mask = page_size() - 1;
    segments.push_back({{begin & ~mask, (begin + header.p_memsz + mask) & ~mask}, (header.p_flags & PF_W) != 0, (header.p_flags & PF_X) != 0});
  }
  static_cast<Objects*>(to)->push_back(std::move(segments));
  return 0;
}

Objects loaded_objects() {
  Objects objects;
  ::dl_iterate_phdr(&add_object, &objects);
  return objects;
}

}  // namespace

std::vector<Range> library_data() {
  std::vector<Range> found;
  for (const std::vector<Segment>& object : loaded_objects()) {
    for (const Segment& segment : object) {
      if (segment.writable && !segment.executable) found.push_back(segment.range);
    }
  }
  return found;
}

void merge_library_text() noexcept {
  for (const std::vector<Segment>& object : loaded_objects()) {
    const auto executable = [&](std::size_t i) { return i < object.size() && object[i].executable && !object[i].writable; };
    for (std::size_t i = 0; i < object.size(); ++i) {
      const Segment& segment = object[i];
      const bool beside = (executable(i + 1) && object[i + 1].range.begin == segment.range.end) ||
                          (i > 0 && executable(i - 1) && object[i - 1].range.end == segment.range.begin);
      if (segment.writable || segment.executable || !beside) continue;
      ::mprotect(reinterpret_cast<void*>(segment.range.begin), segment.range.end - segment.range.begin, PROT_READ | PROT_EXEC);
    }
  }
}

}  // namespace rookery::repl
