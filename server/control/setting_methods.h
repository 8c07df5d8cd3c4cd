// SettingMethods: what clients set at run time: LogSettings, TraceSetting and their own memory.
#pragma once

#include <string>

#include "server/http/calls/method_table.h"
#include "server/request/served_model.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/log/trace_log.h"

namespace mpsd {

class ClientRegions;

// The methods' subjects. All pointers outlive the table.
struct SettingSubjects {
  const ModelDirectory* models = nullptr;
  Logger* logger = nullptr;
  TraceLog* traces = nullptr;  // null: the config names no trace file
  std::string log_file;        // file names without folders; empty: none
  std::string trace_file;
};

// Adds LogSettings and TraceSetting of the inference service. REQUIRES: there are models and a
// logger.
//
// Both methods read and write: a request without settings only reads, and every answer holds all
// current settings. A change is in force at once, until the next one or the daemon's end; the
// config file is not written. Trace settings apply to the named model, or to all models without
// their own.
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
// An unknown or malformed setting is INVALID_ARGUMENT, and so is TraceSetting of a model that is
// not ready. A setting that names a file, or asks for something missing here, is UNIMPLEMENTED. A
// request is applied whole or not at all. Answers name files without their folders. Without
// `traces` each trace setting may only be set to the value that it has. Both run on the queue
// thread of their call and do not block. If two requests coincide, one wins.
void AddSettingMethods(const SettingSubjects& subjects, MethodTable* table);

// Adds Register, Unregister and Status of system and CUDA shared memory, six methods of the
// inference service. They only translate: `regions`, which outlives the table, holds the regions,
// decides what fits, and has every bound.
//
//   Register    opens the memory and gives it a name, for the requests of this connection
//   Unregister  forgets the name, or every name of the kind when it is empty; OK where there is
//               none. Requests that use the memory keep it open until they have ended
//   Status      the caller's own regions of the kind; NOT_FOUND for a name that is not registered
//
// A client sees only its own connection's regions: CallerInfo::connection is the key. All run on
// the thread of their call and do not block. Only CudaSharedMemoryRegister is deferred, since a
// device may take seconds to open memory: the thread `device-copies` answers.
//
// If the config allows no regions of a kind (decided here once), that kind's methods answer
// UNIMPLEMENTED and tell the client to use raw_input_contents. Only an Unregister without a name is
// OK, since nothing is registered.
void AddSharedMemoryMethods(ClientRegions* regions, MethodTable* table);

}  // namespace mpsd
