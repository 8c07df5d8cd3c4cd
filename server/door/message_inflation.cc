#include "server/door/message_inflation.h"

#include "proto/base/check.h"
#include "server/exchange/request_ending.h"
#include "server/rest/body_padding.h"

namespace mpsd {

// So that the reader of JSON takes the bytes as they are.
static_assert(InflatedBody::kPaddingBytes >= kBodyPadding);

void MessageInflation::Begin(BodyCoding coding, absl::string_view bytes, HttpCall* call) {
  MPSD_CHECK(!is_out_ && (coding == BodyCoding::kGzip || coding == BodyCoding::kDeflate));
  is_out_ = true;
  is_dropped_.store(false, std::memory_order_relaxed);
  coding_ = coding;
  bytes_ = bytes;
  call_ = call;
  threads_->Enqueue(this);
}

// The task may be over, and this in use again, before Resume() returns.
void MessageInflation::Run() {
  HttpCall* const call = call_;
  const CompressedForm form =
      coding_ == BodyCoding::kGzip ? CompressedForm::kGzip : CompressedForm::kDeflate;
  status_ = is_dropped_.load(std::memory_order_relaxed)
                ? CallCancelled()
                : plain_.Inflate(form, bytes_, call->peer());
  call->Resume();
}

}  // namespace mpsd
