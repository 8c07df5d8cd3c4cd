// AOTInductor models: a .pt2 package of compiled code, run by libtorch in this process.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/model/model.h"

namespace mpsd {

// As LoadModel(), for the format "aoti". Packages are unpacked into the process's TMPDIR.
absl::StatusOr<std::unique_ptr<Model>> LoadAoti(const LoadOrder& order);

}  // namespace mpsd
