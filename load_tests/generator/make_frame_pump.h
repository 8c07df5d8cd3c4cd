// MakeFramePump: the pump of mpsd-bench --frames, in a build that has it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "client/traffic/load_run.h"
#include "client/traffic/pump.h"
#include "client/traffic/request_set.h"

namespace mpsd::load {

// A connected FramePump. UNAVAILABLE if it cannot connect, UNIMPLEMENTED without nghttp2. The plan
// and the requests outlive the pump. REQUIRES: the plan is an open loop, without TLS and without a
// token.
absl::StatusOr<std::unique_ptr<traffic::Pump>> MakeFramePump(
    const traffic::LoadPlan& plan, const std::vector<traffic::PreparedRequest>& requests,
    uint32_t thread);

}  // namespace mpsd::load
