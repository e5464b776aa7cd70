// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rookery::repl {

// The zygote's loop: makes an interpreter in a jail for each request of the warden (wire/message.h, kForkRepl).
// `config` is a descriptor with the limits and the session's filter (jail/confine.h). Returns in the new
// processes only, which are members of their jails then, with the channel to the server as fd 3; the zygote itself
// never returns: it ends when the warden does. False with errno set when the zygote cannot start.
bool fork_loop(int warden, int config, const char* preloaded) noexcept;

}  // namespace rookery::repl
