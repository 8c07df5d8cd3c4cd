// The configs of a daemon that has no config file: its command line names a model or a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/link/model_spec.h"
#include "server/config/config.h"

namespace mpsd {

// The config of a daemon that serves one model file and nothing else. The shapes of `inputs` are
// whole: if the first dim of all of them is -1 the model batches, up to `max_batch_size` rows (0:
// 64). Without inputs the file says them.
absl::StatusOr<Config> ConfigFromModelFile(const std::string& model_file,
                                           std::vector<TensorSpec> inputs, uint32_t max_batch_size);

// The config of a daemon that serves a model repository and nothing else. If `explicit_control`,
// clients load the models.
absl::StatusOr<Config> ConfigFromRepository(const std::string& folder, bool explicit_control);

}  // namespace mpsd
