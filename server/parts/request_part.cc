#include "server/parts/request_part.h"

#include "server/request/served_model.h"

namespace mpsd {

void RequestPart::Take(const Request& whole, uint32_t rows, absl::Span<InputCutter> cutters) {
  request_.StandFor(whole);
  request_.rows = rows;
  request_.rows_behind = whole.rows_behind + whole.rows - first_row_ - rows;
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
