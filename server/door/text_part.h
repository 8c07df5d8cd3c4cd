// TextPart: one of several inferences of a TextTask.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "server/bodies/text_routes/text_rows.h"
#include "server/exchange/exchange_transport.h"
#include "server/exchange/infer_exchange.h"
#include "server/http/calls/open_calls.h"

namespace mpsd {

// A part's questions to its task. Lives on the call's thread, except PartResumes() and PartEnded(),
// which come from any thread.
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

  // Called once for each part, which may be gone on return.
  virtual void PartEnded(bool is_ok) = 0;

 protected:
  ~TextPartOwner() = default;
};

// Owned by the TextTask, which leads the call and sends the one reply. A part ends once.
//
// Lives on the call's thread, except what the exchange calls from any thread.
class TextPart final : public ExchangeTransport {
 public:
  // The referents outlive the part.
  TextPart(const ExchangeContext* context, TextPartOwner* owner)
      : owner_(owner), exchange_(context, this, InferExchange::Answers::kOne) {}

  // Admits the request, or ends it with `status`, perhaps before the return. REQUIRES: the rows
  // were taken.
  void Begin(const Arrival& arrival, const absl::Status& status);

  // Whether the next Resumed() is this part's; takes it.
  bool TakeResume() { return awaits_resume_.exchange(false, std::memory_order_acq_rel); }

  OpenCalls::Place* place() { return &place_; }
  TextRows* rows() { return &rows_; }
  InferExchange* exchange() { return &exchange_; }

  // An ended part's, with bytes if the status is OK.
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

  // Written by the ending's thread.
  absl::Status status_;
  std::string bytes_;
};

// Copies the only output. Statuses as TextValues::Add(). Pure.
absl::Status CopyValues(const Answer& answer, size_t row_count, std::string* bytes);

}  // namespace mpsd
