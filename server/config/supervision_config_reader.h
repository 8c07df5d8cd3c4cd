// Reads what the workers of one model may take, and when they rest or are replaced.
#pragma once

#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. Reads load_timeout, warmup_timeout, run_timeout, circuit and recycle of
// `model`, an element of `models`. Reports every mistake to the errors of `model`; `config` is
// whole only when there was none.
void ReadSupervisionConfig(const JsonObject& model, SupervisionConfig* config);

}  // namespace mpsd
