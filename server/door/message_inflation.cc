#include "server/door/message_inflation.h"

#include "proto/base/check.h"
#include "server/bodies/json/body_padding.h"
#include "server/exchange/request_ending.h"

namespace mpsd {

// The reader of JSON then takes the bytes as they are.
static_assert(InflatedBody::kPaddingBytes >= kBodyPadding);

CompressedForm FormOf(BodyCoding coding) {
  MPSD_CHECK(coding == BodyCoding::kGzip || coding == BodyCoding::kDeflate);
  return coding == BodyCoding::kGzip ? CompressedForm::kGzip : CompressedForm::kDeflate;
}

void MessageInflation::Begin(BodyCoding coding, absl::string_view bytes, HttpCall* call,
                             std::function<void()> done) {
  MPSD_CHECK(!is_out_);
  is_out_ = true;
  is_dropped_.store(false, std::memory_order_relaxed);
  form_ = FormOf(coding);
  bytes_ = bytes;
  call_ = call;
  done_ = std::move(done);
  threads_->Enqueue(0, [this] { Run(); });
}

// This may be in use again before `done` returns.
void MessageInflation::Run() {
  const std::function<void()> done = std::move(done_);
  status_ = is_dropped_.load(std::memory_order_relaxed)
                ? CallCancelled()
                : plain_.Inflate(form_, bytes_, call_->peer());
  done();
}

}  // namespace mpsd
