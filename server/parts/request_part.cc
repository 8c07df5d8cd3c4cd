#include "server/parts/request_part.h"

#include "server/request/served_model.h"

namespace mpsd {

void RequestPart::Take(const Request& whole, uint32_t rows, absl::Span<InputCutter> cutters) {
  request_.model = whole.model;
  request_.metrics = whole.metrics;
  request_.rows = rows;
  request_.arrival_ns = whole.arrival_ns;
  request_.patience_ns = whole.patience_ns;
  request_.deadline_ns = whole.deadline_ns;
  request_.final_deadline_ns = whole.final_deadline_ns;
  request_.key = whole.key;
  request_.inputs = whole.inputs;
  request_.wanted_outputs = whole.wanted_outputs;
  request_.filler = whole.filler;
  request_.tenant = whole.tenant;
  request_.rules_version = whole.rules_version;
  request_.inputs_may_change = whole.inputs_may_change;
  request_.priority = whole.priority;
  request_.level = whole.level;
  request_.yields = whole.yields;
  payloads_.resize(cutters.size());
  for (size_t i = 0; i < cutters.size(); ++i) {
    RequestInput& input = request_.inputs[i];
    if (input.is_left_out()) continue;
    payloads_[i] = cutters[i].Take(rows);
    input.payload = &payloads_[i];
    if (input.datatype == DataType::kBytes) input.tensor_bytes = payloads_[i].bytes;
  }
}

absl::Status RequestPart::Reserve(RequestQueue* pool) {
  request_.reply = Reply(this);
  absl::Status status = pool->Reserve(&request_, &targets_);
  if (!status.ok()) request_.reply.Fail(status);
  return status;
}

void RequestPart::Fill(RequestQueue* pool) {
  if (targets_.later) return;
  request_.filler->Fill(request_.model->spec, request_, targets_);
  pool->Commit(&request_);
}

}  // namespace mpsd
