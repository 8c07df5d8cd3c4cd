// SettingMethods: LogSettings and TraceSetting, the settings that clients may change at run time.
#pragma once

#include "server/accept/method_table.h"
#include "server/request/served_model.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/log/trace_log.h"

namespace mpsd {

// Adds LogSettings and TraceSetting of the inference service. `models`, `logger` and `traces`
// outlive the table; `traces` is null if the config names no file for traces. REQUIRES: neither of
// the other two is null.
//
// Both methods read and write: a request without settings only reads, and every answer holds all
// settings as they are then. What is set is in force at once, for all models, and lasts until it is
// set again or the daemon ends; the config file is not written.
//
//   LogSettings        what it may be set to
//   log_error          true
//   log_warning        bool; true where log_info is
//   log_info           bool; true where log_verbose_level is above 0
//   log_verbose_level  uint32: 0, or above 0 for the level "debug"
//   log_format         "default"
//
//   TraceSetting       what it may be set to; no value means the value of the config
//   trace_level        "TIMESTAMPS" or "OFF"
//   trace_rate         1 to 10^9: one request in so many is traced
//   trace_count        -1 to 10^9: after so many traces there are no more; -1: no end
//   trace_mode         the mode that the config chose
//   log_frequency      "0"
//
// The log has one level where the protocol has three switches, so that switches which no level
// gives are INVALID_ARGUMENT. A setting that is unknown or malformed is INVALID_ARGUMENT; one that
// names a file, or asks for a thing that this server does not have, is UNIMPLEMENTED. A request is
// applied whole or not at all. No answer names a file. Without `traces` each trace setting may be
// "changed" to the value that it has. TraceSetting of a model that is not ready is
// INVALID_ARGUMENT. Both run on the queue thread of their call and do not block.
// Of two requests at the same moment one wins.
void AddSettingMethods(const ModelDirectory* models, Logger* logger, TraceLog* traces,
                       MethodTable* table);

}  // namespace mpsd
