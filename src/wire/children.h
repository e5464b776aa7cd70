// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

// Where the children of the warden that are executed find what it gives them, and who they are: descriptors at fixed places, and
// ids in the warden's user namespace Z.
namespace rookery::wire {

// The server's, and those of the runner in its place (`rookery run`).
constexpr int kServerListenSocket = 3;
constexpr int kServerWardenChannel = 4;
constexpr int kServerSupervisorChannel = 5;
constexpr int kServerTelemetryChannel = 6;  // with telemetry_enabled only
constexpr int kServerTelemetryCounts = 7;   // likewise
constexpr uid_t kServerUid = 100;

// The exporter's, and where it finds the file of authorities in its root.
constexpr int kExporterChannel = 3;
constexpr int kExporterCounts = 4;
constexpr int kExporterWardensRoot = 5;
constexpr const char* kExporterCertificates = "/certificates.pem";
constexpr uid_t kExporterUid = 101;

}  // namespace rookery::wire
