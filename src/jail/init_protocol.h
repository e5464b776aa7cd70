// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the init finds its descriptors. Its arguments: the interpreter's path, the open-files limit of programs.
// Its environment is that of the programs it starts.
namespace rookery::jail {

constexpr int kWardenChannel = 3;
constexpr int kServerChannel = 4;
constexpr int kProgramOutput = 5;
constexpr int kProgramError = 6;
constexpr int kInitProgram = 7;  // close-on-exec, as all above it
constexpr int kSessionTree = 8;

constexpr const char* kDriverPath = "/opt/rookery/driver.py";

}  // namespace rookery::jail
