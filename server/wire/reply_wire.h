// ReplyWire: writes a ModelInferResponse, with the tensors as slices over the output slab.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/clock.h"
#include "server/request/reply.h"
#include "server/telemetry/model_metrics.h"
#include "server/wire/pin_ledger.h"

namespace mpsd {

// The fields of the answer that stand before its tensors.
struct ReplyHead {
  absl::string_view model;
  absl::string_view version;
  absl::string_view id;
  bool final_flag = false;  // says whether a further answer to this request follows:
  bool is_final = true;     // none does
};

// Who the answer goes to, as far as it matters for how long its memory may be kept. Looked at only
// for an answer that is large enough to be left where it lies.
struct ReplyPeer {
  std::shared_ptr<PinLedger> ledger;
  const Clock* clock = nullptr;
  std::string address;
};

// Small answers, and those of a worker or for a connection that has too much pinned already, are
// copied; the slices of the others hold a reference on the answer's memory until the transport lets
// them go. RESOURCE_EXHAUSTED where a large one would have to be copied, and clients have left too
// many copies unread. `scratch` is the caller's, used again from call to call. Thread-safe.
absl::StatusOr<grpc::ByteBuffer> WriteReply(const ReplyHead& head, const Answer& answer,
                                            const ReplyPeer& peer, ModelMetrics* metrics,
                                            std::string* scratch);

// True when some output is too large to be copied as a matter of course.
bool HasLargeOutput(const Answer& answer);

// The same as a ModelStreamInferResponse.
absl::StatusOr<grpc::ByteBuffer> WriteStreamReply(const ReplyHead& head, const Answer& answer,
                                                  const ReplyPeer& peer, ModelMetrics* metrics,
                                                  std::string* scratch);

// A ModelStreamInferResponse that ends one request, and not its stream, with an error.
grpc::ByteBuffer WriteStreamError(absl::string_view text, absl::string_view id);

}  // namespace mpsd
