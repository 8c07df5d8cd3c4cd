// TextTask: one question about texts: embeddings, scores or classes.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/bodies/text_routes/text_reply.h"
#include "server/bodies/text_routes/text_request.h"
#include "server/bodies/text_routes/text_rows.h"
#include "server/door/infer_task.h"
#include "server/door/text_part.h"

namespace mpsd {

// The body names the model. Then the gate is asked, and the place among the open calls becomes the
// model's. Rows beyond a batch become further requests, at most kMaxRequestParts in all, each with
// its exchange and place:
//
//   rows     0 … 31          32 … 63         64 … 69        of a model of max_batch_size 32
//   request  the task's own  parts_[0]       parts_[1]      each batched with those of other calls
//
// EndOne() joins the endings: the last one's thread writes the reply. The first failure stops and
// cancels the other requests, on the call's thread, before the reply. The client gets the first
// error in the order of the rows.
//
// Lives on its connection's thread, except what the exchanges call from any thread. Owned by the
// HttpDoor, as an InferTask.
class TextTask final : public InferTask, private TextPartOwner {
 public:
  TextTask(const DoorContext* context, Back back) : InferTask(context, std::move(back)) {}

  void Resumed() override;
  void ClientLeft() override;
  void Over() override;

 private:
  // InferTask.
  absl::Status ReadBody(std::string bytes, InferMessage* message, InferBody* body) override;
  absl::Status BeginOthers() override;
  void DropPayloads() override;
  absl::Status WriteBody(const ReplyHead& head, const Answer& answer, const InferBody& body,
                         HttpReply* reply) override;
  void SendLast() override;
  void SendError(const absl::Status& status) override;
  HttpReply ErrorOf(const absl::Status& status) const override;

  // TextPartOwner.
  const TextRequest& request() const override { return request_; }
  const TextModel& model() const override { return *model_; }
  absl::Status PartMayUse(absl::string_view model) override { return MayUse(model); }
  uint32_t PartTenant() override { return Tenant(); }
  uint64_t PartRulesVersion() override { return RulesVersion(); }
  ConnectionId PartConnection() override { return Connection(); }
  void PartResumes() override { call()->Resume(); }
  void PartEnded(bool is_ok) override { EndOne(is_ok); }

  absl::Status TakeModel(InferMessage* message);
  absl::StatusOr<TextModel> FindModel() const;
  absl::Status TakeRows();
  void CountRows();
  absl::Status CheckRowTokens() const;
  absl::Status WriteValues(TextValues* values, HttpReply* reply);
  void EndOne(bool is_ok);
  void LeaveOne();
  void CancelParts();
  absl::Status Join(HttpReply* reply);
  absl::Status FirstFault() const;

  TextRequest request_;
  std::optional<TextModel> model_;
  TextRows rows_;
  std::vector<std::unique_ptr<TextPart>> taken_;
  std::vector<std::unique_ptr<TextPart>> parts_;

  std::atomic<size_t> left_{1};  // requests that have not ended, and a cancel on its way
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> awaits_cancel_{false};
  CallRows call_rows_;                    // rows that have not asked the queue
  std::atomic<uint64_t> text_tokens_{0};  // tokens of all requests' texts

  // The task's own request, if there are parts. Written by the answering thread.
  absl::Status status_;
  std::string bytes_;
};

}  // namespace mpsd
