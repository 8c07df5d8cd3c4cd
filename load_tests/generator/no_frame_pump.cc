#include "absl/status/status.h"
#include "load_tests/generator/make_frame_pump.h"

namespace mpsd::load {

absl::StatusOr<std::unique_ptr<traffic::Pump>> MakeFramePump(
    const traffic::LoadPlan& /*plan*/, const std::vector<traffic::PreparedRequest>& /*requests*/,
    uint32_t /*thread*/) {
  return absl::UnimplementedError("built without nghttp2, which --frames needs");
}

}  // namespace mpsd::load
