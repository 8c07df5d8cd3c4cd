#include "worker/model/torch/mps_stream_wait.h"

namespace mpsd {

absl::Status WaitForMpsStream() {
  return absl::UnimplementedError("there is no mps on this platform");
}

}  // namespace mpsd
