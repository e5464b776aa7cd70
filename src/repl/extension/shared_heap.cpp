// SPDX-License-Identifier: Apache-2.0
#include "repl/extension/shared_heap.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sys/error.h"
#include "sys/file.h"
#include "sys/unique_fd.h"

namespace rookery::repl {

namespace {

constexpr std::uintptr_t kArena = 1u << 20;

struct Range {
  std::uintptr_t begin, end;
};

// PyObjectArenaAllocator of CPython's C API (PyObject_SetArenaAllocator), which the limited API leaves out.
struct ArenaAllocator {
  void* context;
  void* (*allocate)(void*, std::size_t);
  void (*release)(void*, void*, std::size_t);
};
using ArenaFunction = void (*)(ArenaAllocator*);

// A mebibyte each; what does not fit in here is not moved.
struct Arenas {
  std::array<Range, 2048> ranges;
  std::size_t count = 0;
  // Memory of arenas from before they were remembered one by one, as long as none of them is released.
  std::vector<Range> early;
  bool early_lost = false;
  ArenaAllocator original{};
};
Arenas arenas;

void* allocate_arena(void*, std::size_t size) {
  void* arena = arenas.original.allocate(arenas.original.context, size);
  const auto begin = reinterpret_cast<std::uintptr_t>(arena);
  if (arena != nullptr && arenas.count < arenas.ranges.size()) arenas.ranges[arenas.count++] = {begin, begin + size};
  return arena;
}

void release_arena(void*, void* arena, std::size_t size) {
  const auto end = arenas.ranges.begin() + static_cast<std::ptrdiff_t>(arenas.count);
  const auto found = std::find_if(arenas.ranges.begin(), end, [&](const Range& range) { return range.begin == reinterpret_cast<std::uintptr_t>(arena); });
  if (found == end) {
    arenas.early_lost = true;
  } else {
    *found = arenas.ranges[--arenas.count];
  }
  arenas.original.release(arenas.original.context, arena, size);
}

ArenaFunction arena_function(const char* name) noexcept { return reinterpret_cast<ArenaFunction>(::dlsym(RTLD_DEFAULT, name)); }

// The writable private mappings without a file whose name, as proc_pid_maps(5) has it, is `name`.
std::vector<Range> mappings(std::string_view name) {
  std::vector<Range> found;
  std::istringstream maps(sys::read_file("/proc/self/maps"));
  for (std::string line; std::getline(maps, line);) {
    Range range{};
    int end_of_fields = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx rw-p 00000000 00:00 0 %n", &range.begin, &range.end, &end_of_fields) != 2 || end_of_fields == 0) continue;
    if (std::string_view(line).substr(static_cast<std::size_t>(end_of_fields)) == name) found.push_back(range);
  }
  return found;
}

std::vector<Range> ranges_to_move() {
  std::vector<Range> ranges = mappings("[heap]");
  ranges.insert(ranges.end(), arenas.ranges.begin(), arenas.ranges.begin() + static_cast<std::ptrdiff_t>(arenas.count));
  for (const Range& now : mappings("")) {
    for (const Range& early : arenas.early) {
      const Range still{std::max(now.begin, early.begin), std::min(now.end, early.end)};
      if (!arenas.early_lost && still.begin < still.end) ranges.push_back(still);
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> merged;
  for (const Range& range : ranges) {
    if (!merged.empty() && merged.back().end == range.begin) {
      merged.back().end = range.end;
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

// Nothing may be written to the range between the copy and the mapping of it: no library calls, no allocation.
// False when the range is as it was before, and errno says why.
bool move_range(int file, const Range& range, off_t offset) noexcept {
  for (std::uintptr_t at = range.begin; at < range.end;) {
    const ssize_t written = ::pwrite(file, reinterpret_cast<const void*>(at), range.end - at, offset + static_cast<off_t>(at - range.begin));
    if (written <= 0) return false;
    at += static_cast<std::uintptr_t>(written);
  }
  void* const address = reinterpret_cast<void*>(range.begin);
  return ::mmap(address, range.end - range.begin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, offset) == address;
}

}  // namespace

void remember_arenas() {
  // Nothing but the interpreter itself has asked for memory yet, so what is this large is arenas.
  arenas.early = mappings("");
  std::erase_if(arenas.early, [](const Range& range) { return range.end - range.begin < kArena; });
  const ArenaFunction get = arena_function("PyObject_GetArenaAllocator");
  const ArenaFunction set = arena_function("PyObject_SetArenaAllocator");
  if (get == nullptr || set == nullptr) return;
  get(&arenas.original);
  ArenaAllocator remembering{nullptr, allocate_arena, release_arena};
  set(&remembering);
}

void share_heap() {
  const std::vector<Range> ranges = ranges_to_move();
  const sys::UniqueFd file(sys::check(::memfd_create("rookery-zygote", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create"));
  off_t offset = 0;
  for (const Range& range : ranges) {
    if (!move_range(file.get(), range, offset)) sys::throw_errno("move the zygote's heap");
    offset += static_cast<off_t>(range.end - range.begin);
  }
  sys::check(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), "seal the zygote's heap");
  if (arenas.original.allocate != nullptr) arena_function("PyObject_SetArenaAllocator")(&arenas.original);
}

}  // namespace rookery::repl
