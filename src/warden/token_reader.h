// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace rookery::warden {

// A process that can still read the token file once root is given up, and nothing else: its root is the file's directory,
// its file system ids are those of the file's owner, it has no capability, and its filter allows to open for reading only.
// It sends the content to the server (wire/supervisor_messages.h) at the start and after each SIGHUP. The path is
// resolved anew each time, so that a file that was replaced by rename, also by way of a link in the same directory,
// is found.

// What the reader is given; the rest of its environment is empty.
constexpr const char* kReaderTitle = "rookery: token reader";
constexpr const char* kReaderUidVariable = "ROOKERY_UID";    // what it becomes, so that the supervisor may signal it
constexpr const char* kReaderFileVariable = "ROOKERY_FILE";  // the name in the directory
constexpr int kReaderChannel = 3;                            // to the server
constexpr int kReaderDirectory = 4;                          // that of the file

// Starts it, by the program `executable`. The caller must still be root and single-threaded. Throws std::system_error,
// also when the directory cannot be opened.
pid_t start_token_reader(const std::string& path, int channel, int executable, uid_t uid);

// Its whole life. Returns its exit status.
int token_reader_main();

}  // namespace rookery::warden
