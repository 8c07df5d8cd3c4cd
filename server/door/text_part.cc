#include "server/door/text_part.h"

#include "server/bodies/text_routes/text_reply.h"

namespace mpsd {

void TextPart::Begin(const Arrival& arrival, const absl::Status& status) {
  exchange_.Begin(arrival);
  exchange_.Admit(status.ok() ? exchange_.Read() : status);
}

absl::Status TextPart::Read(InferMessage* message, TensorForms*) {
  message->model = owner_->model().name();
  message->version = absl::string_view();
  rows_.Fill(owner_->request(), owner_->model(), message);
  return absl::OkStatus();
}

// The flag is set before the call's Resumed() can come.
void TextPart::Resume() {
  awaits_resume_.store(true, std::memory_order_release);
  owner_->PartResumes();
}

absl::Status TextPart::Write(const Answer& answer, bool) {
  return CopyValues(answer, rows_.row_count(), &bytes_);
}

void TextPart::SendError(const absl::Status& status) {
  status_ = status;
  owner_->PartEnded(/*is_ok=*/false);
}

absl::Status CopyValues(const Answer& answer, size_t row_count, std::string* bytes) {
  TextValues values;
  if (absl::Status status = values.Add(answer, row_count); !status.ok()) return status;
  *bytes = std::string(answer.outputs[0].bytes);
  return absl::OkStatus();
}

}  // namespace mpsd
