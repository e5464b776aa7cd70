// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the init finds its descriptors. Its arguments: the interpreter's path, the open-files limit of programs.
// Its environment is that of the programs it starts.
namespace rookery::jail {

constexpr int kWardenChannel = 3;
constexpr int kServerChannel = 4;
constexpr int kProgramOutput = 5;
constexpr int kProgramError = 6;
constexpr int kSessionTree = 7;  // close-on-exec

// Descriptors of a starting bash: a long command; where a spare one gets its command.
constexpr int kScript = 9;
constexpr int kCommandChannel = 10;

// In every image: executable but not readable for the session, so that the kernel keeps /proc/1 closed (execve(2)).
constexpr const char* kInitPath = "/opt/rookery/init";
constexpr const char* kSpareBashPreload = "/opt/rookery/spare_bash.so";
constexpr const char* kDriverPath = "/opt/rookery/driver.py";

}  // namespace rookery::jail
