// TextPart: one more inference of a call with more rows than a batch of its model.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "server/bodies/text_routes/text_rows.h"
#include "server/exchange/exchange_transport.h"
#include "server/exchange/infer_exchange.h"
#include "server/http/calls/open_calls.h"

namespace mpsd {

// A part's questions to the task of its call. Lives on the call's thread, except PartResumes() and
// PartEnded(), which come from any thread.
class TextPartOwner {
 public:
  virtual const TextRequest& request() const = 0;
  virtual const TextModel& model() const = 0;

  // As in ExchangeTransport.
  virtual absl::Status PartMayUse(absl::string_view model) = 0;
  virtual uint32_t PartTenant() = 0;
  virtual uint64_t PartRulesVersion() = 0;
  virtual ConnectionId PartConnection() = 0;
  virtual void PartResumes() = 0;

  // Called once for each part. The part may be gone when it returns.
  virtual void PartEnded(bool is_ok) = 0;

 protected:
  ~TextPartOwner() = default;
};

// The transport of one of several requests of a TextTask. The task owns it and leads the call: it
// has asked the gate and read the body, and sends the one reply. The part keeps its rows and its
// outcome, which the task reads when all parts have ended. A part ends once.
//
// Lives on the call's thread, except what the exchange calls from any thread.
class TextPart final : public ExchangeTransport {
 public:
  // The referents outlive the part.
  TextPart(const ExchangeContext* context, TextPartOwner* owner)
      : owner_(owner), exchange_(context, this, InferExchange::Answers::kOne) {}

  // Begins the request, and admits it or ends it with `status`. It may have ended when this
  // returns. REQUIRES: the rows were taken.
  void Begin(const Arrival& arrival, const absl::Status& status);

  // Whether the call's next Resumed() is this part's; takes it.
  bool TakeResume() { return awaits_resume_.exchange(false, std::memory_order_acq_rel); }

  OpenCalls::Place* place() { return &place_; }
  TextRows* rows() { return &rows_; }
  InferExchange* exchange() { return &exchange_; }

  // Outcome of an ended part: its numbers, if the status is OK.
  const absl::Status& status() const { return status_; }
  absl::string_view bytes() const { return bytes_; }

 private:
  absl::Status Read(InferMessage* message, TensorForms* forms) override;
  absl::Status MayUse(absl::string_view model) override { return owner_->PartMayUse(model); }
  uint32_t Tenant() override { return owner_->PartTenant(); }
  uint64_t RulesVersion() override { return owner_->PartRulesVersion(); }
  ConnectionId Connection() override { return owner_->PartConnection(); }
  void DropPayloads() override { rows_.Drop(); }
  void Resume() override;
  absl::Status Write(const Answer& answer, bool is_last) override;
  void SendLast() override { owner_->PartEnded(/*is_ok=*/true); }
  void SendError(const absl::Status& status) override;

  TextPartOwner* const owner_;
  OpenCalls::Place place_;
  TextRows rows_;
  InferExchange exchange_;
  std::atomic<bool> awaits_resume_{false};

  // Written by the thread that gives the ending.
  absl::Status status_;
  std::string bytes_;
};

// Copies the one output of an answer to `row_count` rows. Statuses as TextValues::Add(). Pure.
absl::Status CopyValues(const Answer& answer, size_t row_count, std::string* bytes);

}  // namespace mpsd
