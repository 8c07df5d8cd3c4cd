// The config file. A config that is taken keeps the bounds that the rest of the daemon relies on.
#include <cstdint>
#include <string>
#include <string_view>

#include "proto/base/check.h"
#include "server/config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  const absl::StatusOr<mpsd::Config> config = mpsd::ParseConfig(text, "fuzz.json");
  if (!config.ok()) {
    MPSD_CHECK(!config.status().message().empty());
    return 0;
  }
  MPSD_CHECK(!config->listen.grpc.empty() && !config->state_dir.empty());
  for (const mpsd::ModelConfig& model : config->models) {
    MPSD_CHECK(!model.name.empty() && model.name.size() <= mpsd::kMaxNameBytes);
    MPSD_CHECK(model.spec.inputs.size() <= mpsd::kMaxTensors);
    MPSD_CHECK(model.spec.max_batch_size <= mpsd::kMaxBatchRows);
    MPSD_CHECK(model.placement.processes <= mpsd::kMaxWorkers);
    MPSD_CHECK(model.placement.lanes <= mpsd::kMaxLanes);
  }
  return 0;
}
