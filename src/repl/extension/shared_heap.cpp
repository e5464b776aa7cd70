// SPDX-License-Identifier: Apache-2.0
#include <Python.h>

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
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "repl/extension/library_memory.h"
#include "sys/error.h"
#include "sys/file.h"
#include "sys/unique_fd.h"

namespace rookery::repl {

namespace {

constexpr std::uintptr_t kArena = 1u << 20;
// The sizes that CPython's allocator serves from its arenas (Objects/obmalloc.c).
constexpr std::size_t kArenaStep = 16;
constexpr std::size_t kArenaMost = 512;

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

std::vector<Range> ranges_to_move(std::uintptr_t end_of_heap) {
  std::vector<Range> ranges = mappings("[heap]");
  for (Range& range : ranges) range.end = std::min(range.end, end_of_heap);
  std::erase_if(ranges, [](const Range& range) { return range.begin >= range.end; });
  ranges.insert(ranges.end(), arenas.ranges.begin(), arenas.ranges.begin() + static_cast<std::ptrdiff_t>(arenas.count));
  for (const Range& now : mappings("")) {
    for (const Range& early : arenas.early) {
      const Range still{std::max(now.begin, early.begin), std::min(now.end, early.end)};
      if (!arenas.early_lost && still.begin < still.end) ranges.push_back(still);
    }
  }
  const std::vector<Range> data = library_data();
  ranges.insert(ranges.end(), data.begin(), data.end());
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

// The two allocators would serve a session from what is free between shared objects, page after page, and each page would be
// copied for it. So that is taken out of use, for ever, and sessions get fresh memory, which lies together. Where an
// allocator does not behave as expected, kMostFilled ends it.
constexpr std::size_t kMostFilled = 64u << 20;

void fill_arenas() noexcept {
  const std::size_t before = arenas.count;
  const auto fresh = [&](const void* memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    return std::any_of(arenas.ranges.begin() + static_cast<std::ptrdiff_t>(before), arenas.ranges.begin() + static_cast<std::ptrdiff_t>(arenas.count),
                       [&](const Range& range) { return range.begin <= address && address < range.end; });
  };
  std::size_t filled = 0;
  for (std::size_t size = kArenaStep; size <= kArenaMost; size += kArenaStep) {
    for (; filled < kMostFilled; filled += size) {
      if (fresh(PyObject_Malloc(size))) break;
    }
  }
  arenas.count = before;  // the fresh ones are not for sharing
}

// Up to the present end of the heap, which it returns.
std::uintptr_t fill_heap() noexcept {
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  std::size_t filled = 0;
  for (std::size_t size = 64u << 10; size >= 16; size -= size > 1024 ? size / 2 : 16) {
    for (; filled < kMostFilled; filled += size) {
      void* const memory = std::malloc(size);
      if (reinterpret_cast<std::uintptr_t>(memory) < end) continue;
      std::free(memory);
      break;
    }
  }
  return end;
}

// Nothing may be written to the range between the copy and the mapping of it: no library calls but these two, no allocation. The
// dynamic linker has found both by the time that the data it writes to for that is moved: the program and its heap lie below.
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
  if (arenas.original.allocate != nullptr) fill_arenas();
  merge_library_text();
  const std::vector<Range> ranges = ranges_to_move(fill_heap());
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
