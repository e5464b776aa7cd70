// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/settings.h"

namespace rookery::exporter {

// The exporter's whole life, from the exec by the warden on (wire/children.h): the only process of rookery that opens
// connections, and the only one that has TELEMETRY_OTLP_HEADERS. It gets records through one channel, has no other way to
// the rest of rookery, and ends when that channel is closed. Returns the exit status.
int exporter_main(const util::Settings& settings);

}  // namespace rookery::exporter
