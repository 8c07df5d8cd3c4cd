// LogSettings and TraceSetting: settings that may change at run time.
#pragma once

#include "server/accept/method_table.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/log/trace_log.h"

namespace mpsd {

// Adds the methods to the table. `logger` and `traces`, which is null where the config names no
// file for traces, outlive it. A request without settings reads. A setting that is unknown, that
// names a file or that asks for what is not there is refused, and then none of the request's
// settings is applied.
void AddSettingMethods(Logger* logger, TraceLog* traces, MethodTable* table);

}  // namespace mpsd
