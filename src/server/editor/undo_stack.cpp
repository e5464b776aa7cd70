// SPDX-License-Identifier: Apache-2.0
#include "server/editor/undo_stack.h"

#include <algorithm>
#include <utility>

namespace rookery::server {

void UndoStack::push(FilePlace place, std::string before) {
  before.shrink_to_fit();
  bytes_ += before.size();
  entries_.push_back({std::move(place), std::move(before)});
  while (entries_.size() > kMaxEdits || bytes_ > kMaxBytes) {
    bytes_ -= entries_.front().before.size();
    entries_.pop_front();
  }
}

const std::string* UndoStack::newest(const FilePlace& place) const noexcept {
  const auto entry = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& e) { return e.place == place; });
  return entry == entries_.rend() ? nullptr : &entry->before;
}

void UndoStack::drop_newest(const FilePlace& place) noexcept {
  const auto entry = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& e) { return e.place == place; });
  if (entry == entries_.rend()) return;
  bytes_ -= entry->before.size();
  entries_.erase(std::next(entry).base());
}

}  // namespace rookery::server
