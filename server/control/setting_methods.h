// LogSettings and TraceSetting: settings that clients may change at run time.
#pragma once

#include "server/accept/method_table.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/log/trace_log.h"

namespace mpsd {

// Adds the methods to the table. `logger` and `traces` outlive the table; `traces` is null if the
// config names no file for traces. A request without settings only reads. A setting is refused if
// it is unknown, names a file or asks for something that is not there; then no setting of the
// request is applied.
void AddSettingMethods(Logger* logger, TraceLog* traces, MethodTable* table);

}  // namespace mpsd
