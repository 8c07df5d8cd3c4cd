// aoti_model: models in a .pt2 package of compiled code (AOTInductor), run by libtorch in this
// process.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/model/model.h"

namespace mpsd {

// As LoadModel(), for the format "aoti". Unpacks the package into the process's TMPDIR, and opens
// one instance of the model for each lane of the order. FAILED_PRECONDITION when the package was
// compiled for another device or machine.
absl::StatusOr<std::unique_ptr<Model>> LoadAoti(const LoadOrder& order);

}  // namespace mpsd
