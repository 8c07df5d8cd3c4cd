// LoadAoti() for a worker on the stand-in of Metal: its libtorch, 2.6, is older than the packages
// that a worker reads.
#include "worker/model/aoti/aoti_model.h"

namespace mpsd {

absl::StatusOr<std::unique_ptr<Model>> LoadAoti(const LoadOrder& /*order*/) {
  return absl::FailedPreconditionError("this libtorch is too old for packages");
}

}  // namespace mpsd
