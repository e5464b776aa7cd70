// SPDX-License-Identifier: Apache-2.0
#include "contract/types.h"

namespace rookery::contract {

std::string_view name(Tool tool) noexcept {
  switch (tool) {
    case Tool::kCodeExecution:
      return "code_execution";
    case Tool::kBashExecution:
      return "bash_code_execution";
    case Tool::kTextEditor:
      return "text_editor_code_execution";
  }
  return {};
}

std::string_view name(Limit limit) noexcept {
  switch (limit) {
    case Limit::kNone:
      return "";
    case Limit::kMemory:
      return "memory";
    case Limit::kCpu:
      return "cpu";
    case Limit::kPids:
      return "pids";
    case Limit::kFileSize:
      return "file_size";
    case Limit::kWorkspace:
      return "workspace";
    case Limit::kOutput:
      return "output";
    case Limit::kWallClock:
      return "wall_clock";
  }
  return {};
}

}  // namespace rookery::contract
