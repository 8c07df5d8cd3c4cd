// ReplyWire: writes a ModelInferResponse, with the tensors as slices over the output slab.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "absl/strings/string_view.h"
#include "server/request/reply.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// The fields of the answer that stand before its tensors.
struct ReplyHead {
  absl::string_view model;
  absl::string_view version;
  absl::string_view id;
};

// Small answers, and those of memory that has too much pinned already, are copied; the slices of
// the others hold a reference on the answer's memory until the transport lets them go. `scratch` is
// the caller's, used again from call to call. Thread-safe.
grpc::ByteBuffer WriteReply(const ReplyHead& head, const Answer& answer, ModelMetrics* metrics,
                            std::string* scratch);

}  // namespace mpsd
