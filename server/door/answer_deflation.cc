#include "server/door/answer_deflation.h"

#include "server/door/grpc_form.h"

namespace mpsd {

// The task may be over, and this in use again, before Reply() returns.
void AnswerDeflation::Run() {
  HttpReply reply = std::move(reply_);
  CompressReply(coding_, &reply);
  call_->Reply(std::move(reply));
}

}  // namespace mpsd
