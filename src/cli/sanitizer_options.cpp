// SPDX-License-Identifier: Apache-2.0
// What a build with AddressSanitizer needs to run in processes that have given up what rookery's give up. In the program, because
// some of its processes are executed without an environment.
#ifdef __SANITIZE_ADDRESS__
extern "C" [[gnu::used, gnu::visibility("default")]] const char* __asan_default_options();

// The filters refuse alternate signal stacks, and tracing, by which leaks are looked for.
const char* __asan_default_options() { return "use_sigaltstack=0:detect_leaks=0:quarantine_size_mb=4"; }
#endif
