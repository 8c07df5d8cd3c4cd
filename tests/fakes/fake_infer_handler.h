// FakeInferHandler: admits requests to models that answer when the test says so.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Counts what is asked of it. A request that is cancelled ends as CANCELLED, at once, or when its
// answer was taken, as with a real queue. Thread-compatible.
class FakeRequestQueue final : public RowQueue {
 public:
  absl::Status Reserve(Request*, RowTargets*) override { return absl::AbortedError("closed"); }
  void Commit(Request* request) override { committed.push_back(request); }
  void Close() override {}

  std::vector<RefusedContent> RefusedContents() override { return refused_contents; }
  size_t ForgiveContents() override {
    const size_t count = refused_contents.size();
    refused_contents.clear();
    return count;
  }

  void Continue(Request* request) override {
    ++continued;
    request->state = RequestState::kQueued;
    if (request->cancelled) request->reply.Fail(absl::CancelledError("cancelled"));
  }

  void Cancel(Request* request) override {
    ++cancelled;
    if (!request->reply.owed()) return;
    request->cancelled = true;
    if (request->state == RequestState::kAnswering) return;
    request->reply.Fail(absl::CancelledError("cancelled"));
  }

  std::vector<RefusedContent> refused_contents;
  int continued = 0;
  int cancelled = 0;
  std::vector<Request*> committed;  // arriving requests
};

// The bytes of `values`, which the answer's output "y" points to.
inline Answer FakeAnswer(const std::vector<float>& values) {
  Answer answer;
  AnswerOutput& output = answer.outputs.emplace_back();
  output.name = "y";
  output.datatype = DataType::kFp32;
  output.dims = {static_cast<int64_t>(values.size())};
  output.bytes = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
  return answer;
}

// Thread-safe, except what is set before the first request.
class FakeInferHandler final : public InferHandler {
 public:
  Handled Handle(const InferMessage& message, Request* request) override ABSL_LOCKS_EXCLUDED(mu_) {
    if (!refusal.ok()) {
      request->reply.Fail(refusal);
      return Handled::kCopied;
    }
    if (awaits_texts) return Handled::kAwaitsTexts;
    {
      absl::MutexLock lock(&mu_);
      ids_.emplace_back(message.id);
      request->model = ModelOf(std::string(message.model));
      request->metrics = &request->model->metrics;
      request->queue = &queue;
      request->state = RequestState::kQueued;
      requests_.push_back(request);
    }
    if (answers_at_once) request->reply.Send(FakeAnswer(answer));
    return copies ? Handled::kCopied : Handled::kLater;
  }
  bool AdmitArriving(const InferMessage& message, Request* request) override {
    if (rest.empty()) return false;
    copies = true;
    Handle(message, request);
    request->rest = absl::MakeSpan(rest);
    return true;
  }
  void EncodeTexts(const InferMessage&, Request*, TextWaiter* waiter) override {
    texts = waiter;
    waiters.push_back(waiter);
  }

  // The requests that were admitted, in their order, and the ids that their clients gave them.
  std::vector<Request*> requests() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return requests_;
  }
  std::vector<std::string> ids() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return ids_;
  }
  size_t count() const { return requests().size(); }
  Request* last() const { return requests().back(); }

  void SendPart(Request* request, const std::vector<float>& values) {
    request->state = RequestState::kAnswering;
    request->reply.SendPart(FakeAnswer(values));
  }

  // The model of this name. Those whose names begin with "many" are decoupled.
  std::shared_ptr<ServedModel> Model(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return ModelOf(name);
  }

  absl::Status refusal;              // of every request
  std::string rest;                  // arriving requests get it; empty: they must be whole
  bool copies = true;                // the payloads, before Handle() returns
  bool awaits_texts = false;         // every request does
  TextWaiter* texts = nullptr;       // who awaits them, the last one
  std::vector<TextWaiter*> waiters;  // all of them
  bool answers_at_once = false;      // before Handle() returns, with `answer`
  std::vector<float> answer = {1};
  FakeRequestQueue queue;

 private:
  std::shared_ptr<ServedModel> ModelOf(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::shared_ptr<ServedModel>& model = models_[name];
    if (model == nullptr) {
      model = std::make_shared<ServedModel>();
      model->name = name;
      model->spec.decoupled = absl::StartsWith(name, "many");
      model->loaded = true;
    }
    return model;
  }

  mutable absl::Mutex mu_;
  std::map<std::string, std::shared_ptr<ServedModel>> models_ ABSL_GUARDED_BY(mu_);
  std::vector<Request*> requests_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> ids_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
