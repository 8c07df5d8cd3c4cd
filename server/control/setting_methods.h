// SettingMethods: what clients set at run time.
#pragma once

#include <string>

#include "server/http/calls/method_table.h"
#include "server/request/served_model.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/log/trace_log.h"

namespace mpsd {

class ClientRegions;

// All pointers outlive the table.
struct SettingSubjects {
  const ModelDirectory* models = nullptr;
  Logger* logger = nullptr;
  TraceLog* traces = nullptr;  // null: the config names no trace file
  std::string log_file;        // without folders, as the next one; empty: none
  std::string trace_file;
};

// LogSettings and TraceSetting. A request without settings only reads; every answer holds all
// current settings. A change is in force until the next one or the daemon's end. Trace settings
// apply to the named model, or to all models without their own.
//
//   LogSettings        what it may be set to
//   log_error          bool
//   log_warning        bool
//   log_info           bool
//   log_verbose_level  uint32: 0, or above 0 for lines of the level "debug"
//   log_format         "default" or "ISO8601"; lines are the same JSON with either
//
//   TraceSetting       what it may be set to; no value means the value of the config, or for one
//                      model that of all models
//   trace_level        "TIMESTAMPS" or "OFF"
//   trace_rate         1 to 10^9: one request in so many is traced
//   trace_count        -1 to 10^9: after so many traces there are no more; -1: no end
//   trace_mode         the mode that the config chose
//   log_frequency      "0"
//
// A request is applied whole or not at all. INVALID_ARGUMENT for an unknown or malformed setting,
// and for a model that is not ready. UNIMPLEMENTED for a setting that names a file or asks for
// something missing here. Answers name files without their folders. Both run on their call's thread
// and do not block. If two requests coincide, one wins. REQUIRES: there are models and a logger.
void AddSettingMethods(const SettingSubjects& subjects, MethodTable* table);

// Register, Unregister and Status of system and CUDA shared memory. They only translate: `regions`,
// which outlives the table, decides and has every bound.
//
//   Register    opens the memory and gives it a name, for the requests of this connection
//   Unregister  forgets the name, or every name of the kind when it is empty; OK where there is
//               none. Requests that use the memory keep it open until they have ended
//   Status      the caller's own regions of the kind; NOT_FOUND for a name that is not registered
//
// All run on their call's thread and do not block, except CudaSharedMemoryRegister: a device may
// take seconds, so the thread `device-copies` answers. If the config allows no regions of a kind,
// its methods answer UNIMPLEMENTED; only an Unregister without a name is OK.
void AddSharedMemoryMethods(ClientRegions* regions, MethodTable* table);

}  // namespace mpsd
