#include "server/admit/admission.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <semaphore>

#include "proto/base/limits.h"
#include "server/request/retry_info.h"
#include "server/texts/text_encoder.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/recording_reply_sink.h"
#include "tests/server/admit/message_builder.h"

namespace mpsd {
namespace {

// A queue that gives memory of its own, or refuses.
class FakeQueue final : public RowQueue {
 public:
  RowQueue* RowsFor(const Request&) override { return has_rows ? this : nullptr; }
  void ReserveAll(absl::Span<EnteringRequest> requests) override {
    reserved.push_back(requests.size());
    RowQueue::ReserveAll(requests);
  }
  absl::Status Reserve(Request* request, RowTargets* targets) override {
    if (!refusal.ok()) return refusal;
    was_arriving = request->is_arriving;
    request->queue = this;
    if (has_no_room) {
      targets->later = true;
      return absl::OkStatus();
    }
    uint64_t bytes = 0;
    for (const RequestInput& input : request->inputs) bytes += input.row_bytes * request->rows;
    memory.assign(bytes, '?');
    bytes = 0;
    for (const RequestInput& input : request->inputs) {
      targets->inputs.push_back(memory.data() + bytes);
      bytes += input.row_bytes * request->rows;
    }
    return absl::OkStatus();
  }
  void Commit(Request* request) override {
    ++commits;
    request->reply.Fail(absl::OkStatus());
  }
  void Continue(Request*) override {}
  void Cancel(Request*) override {}
  void Close() override {}

  absl::Status refusal;
  bool has_no_room = false;
  bool has_rows = true;
  bool was_arriving = false;  // the last request
  std::string memory;
  int commits = 0;
  std::vector<size_t> reserved;  // requests that entered together
};

class AdmissionTest : public testing::Test {
 protected:
  AdmissionTest() {
    model_->name = "m";
    model_->spec.max_batch_size = 4;
    model_->spec.inputs = {{"A", DataType::kUint8, {-1}}, {"B", DataType::kUint8, {2}}};
    model_->spec.pad = {{"A", 0, {4}, 7, {}}};
    model_->loaded = true;
    models_.Publish(model_);
    models_.stage = ServingStage::kServing;
    message_.Raw("A", "UINT8", {2, 3}, 6).Raw("B", "UINT8", {2, 2}, 4);
  }

  // How a request of this message ended.
  absl::Status Handle(int64_t timeout_ns = kNsPerSecond, int64_t patience_ns = 0) {
    RecordingReplySink sink;
    request_.Reset();
    request_.reply = Reply(&sink);
    request_.arrival_ns = clock_.NowNs();
    request_.deadline_ns = clock_.NowNs() + timeout_ns;
    request_.patience_ns = patience_ns;
    request_.is_step = is_step_;
    request_.inputs_may_change = inputs_may_change_;
    copied_ = admission_.Handle(*message_, &request_) == Handled::kCopied;
    if (request_.reply.owed()) request_.reply.Fail(absl::OkStatus());
    EXPECT_EQ(sink.endings(), 1);
    return sink.status();
  }

  FakeClock clock_;
  ModelDirectory models_;
  std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
  FakeQueue& queue_ = static_cast<FakeQueue&>(*(model_->queue = std::make_unique<FakeQueue>()));
  bool copied_ = false;
  bool is_step_ = false;
  bool inputs_may_change_ = false;
  MessageBuilder message_;
  Request request_;
  TaskThreads text_threads_;
  RateTable rates_;
  Admission admission_{
      &models_, &clock_, &text_threads_, &rates_, {.bytes = 20'000, .tokens = 4'000}};
};

TEST_F(AdmissionTest, CopiesThePayloadIntoTheReservedRowsAndCommits) {
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(queue_.commits, 1);
  EXPECT_EQ(queue_.memory, "xxx\7xxx\7xxxx");
  EXPECT_EQ(request_.metrics, &model_->metrics);
}

TEST_F(AdmissionTest, RowsBeyondTheTenantsRateAreRefusedWithATimeToReturn) {
  rates_.SetRates({{4, 4}});
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(Handle().ok()) << "two rows each";
  const absl::Status refused = Handle();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.message(), "the rate of the caller's rows is exceeded");
  EXPECT_EQ(RetryAfterNs(refused), kNsPerSecond / 4);
  EXPECT_EQ(queue_.commits, 2);
  is_step_ = true;
  EXPECT_TRUE(Handle().ok()) << "the whole request was counted";
}

TEST_F(AdmissionTest, ARequestThatAnotherGenerationTakesCountsOnce) {
  rates_.SetRates({{1, 2}});
  queue_.refusal = absl::AbortedError("closed");
  EXPECT_EQ(Handle().code(), absl::StatusCode::kUnavailable) << "three looks at the same queue";
  queue_.refusal = absl::OkStatus();
  clock_.Advance(kNsPerSecond);
  EXPECT_TRUE(Handle().ok()) << "the bucket owes nothing";
}

// Three requests of two models, in one round of a thread.
class BunchTest : public AdmissionTest {
 protected:
  BunchTest() {
    other_->name = "n";
    other_->spec = model_->spec;
    other_->loaded = true;
    models_.Publish(other_);
  }

  ~BunchTest() override {
    for (Request& request : requests_) {
      if (request.reply.owed()) request.reply.Fail(absl::OkStatus());
    }
  }

  Handled Begin(size_t index, const std::string& model = "m") {
    messages_[index].Raw("A", "UINT8", {2, 3}, 6).Raw("B", "UINT8", {2, 2}, 4);
    messages_[index]->model = model == "m" ? "m" : "n";
    messages_[index]->id = "7";
    requests_[index].reply = Reply(&sinks_[index]);
    requests_[index].deadline_ns = clock_.NowNs() + kNsPerSecond;
    requests_[index].bunch = &bunch_;
    return admission_.Handle(*messages_[index], &requests_[index]);
  }

  std::shared_ptr<ServedModel> other_ = std::make_shared<ServedModel>();
  FakeQueue& other_queue_ =
      static_cast<FakeQueue&>(*(other_->queue = std::make_unique<FakeQueue>()));
  RequestBunch bunch_;
  MessageBuilder messages_[3];
  RecordingReplySink sinks_[3];
  Request requests_[3];
};

TEST_F(BunchTest, EntersItsQueuesTogether) {
  EXPECT_EQ(Begin(0), Handled::kLater);
  EXPECT_EQ(Begin(1, "n"), Handled::kLater);
  EXPECT_EQ(Begin(2), Handled::kLater);
  EXPECT_EQ(queue_.commits + other_queue_.commits, 0);
  admission_.EnterAll(&bunch_);
  EXPECT_EQ(queue_.reserved, std::vector<size_t>{2});
  EXPECT_EQ(other_queue_.reserved, std::vector<size_t>{1});
  EXPECT_EQ(queue_.memory, "xxx\7xxx\7xxxx");
  EXPECT_EQ(queue_.commits, 2);
  EXPECT_EQ(other_queue_.commits, 1);
  EXPECT_TRUE(bunch_.requests.empty());
  admission_.EnterAll(&bunch_);
  EXPECT_EQ(queue_.commits, 2);
}

TEST_F(BunchTest, ARefusalIsOfItsRequest) {
  Begin(0);
  Begin(1, "n");
  queue_.refusal = absl::ResourceExhaustedError("full");
  admission_.EnterAll(&bunch_);
  EXPECT_EQ(sinks_[0].status().message(), "[request id: 7] full");
  EXPECT_EQ(other_queue_.commits, 1);
}

TEST_F(BunchTest, ARequestWhoseQueueIsClosedLooksAgain) {
  Begin(0);
  queue_.refusal = absl::AbortedError("closed");
  admission_.EnterAll(&bunch_);
  EXPECT_EQ(sinks_[0].status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(BunchTest, IsNoLargerThanItsBound) {
  std::vector<Request> requests(RequestBunch::kMost + 1);
  std::vector<RecordingReplySink> sinks(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].reply = Reply(&sinks[i]);
    requests[i].deadline_ns = clock_.NowNs() + kNsPerSecond;
    requests[i].bunch = &bunch_;
    EXPECT_EQ(admission_.Handle(*message_, &requests[i]), Handled::kLater);
  }
  EXPECT_EQ(queue_.commits, static_cast<int>(RequestBunch::kMost));
  admission_.EnterAll(&bunch_);
}

// The last three bytes of the last input have not come.
class ArrivingAdmissionTest : public AdmissionTest {
 protected:
  ArrivingAdmissionTest() { message_.Arrives(3); }

  bool Admit() {
    RecordingReplySink sink;
    request_.Reset();
    request_.reply = Reply(&sink);
    request_.deadline_ns = clock_.NowNs() + kNsPerSecond;
    const bool is_admitted = admission_.AdmitArriving(*message_, &request_);
    EXPECT_TRUE(request_.reply.owed());
    EXPECT_EQ(is_admitted, request_.queue == &queue_);
    EXPECT_EQ(queue_.commits, 0);
    request_.reply.Fail(absl::OkStatus());
    return is_admitted;
  }
};

TEST_F(ArrivingAdmissionTest, HasRowsForWhatIsStillToCome) {
  ASSERT_TRUE(Admit());
  EXPECT_TRUE(queue_.was_arriving);
  EXPECT_EQ(queue_.memory, "xxx\7xxx\7x???");
  ASSERT_EQ(request_.rest.size(), 3U);
  std::memcpy(request_.rest.data(), "yyy", 3);
  EXPECT_EQ(queue_.memory, "xxx\7xxx\7xyyy");
}

TEST_F(ArrivingAdmissionTest, WhatCannotBeAdmittedSoIsLeftAsItWas) {
  queue_.has_rows = false;
  EXPECT_FALSE(Admit());
  queue_.has_rows = true;
  queue_.refusal = absl::ResourceExhaustedError("full");
  EXPECT_FALSE(Admit());
  queue_.refusal = absl::OkStatus();
  models_.stage = ServingStage::kExiting;
  EXPECT_FALSE(Admit());
  models_.stage = ServingStage::kServing;
  message_->model = "unknown";
  EXPECT_FALSE(Admit());
  message_->model = "m";
  EXPECT_TRUE(Admit());
  EXPECT_EQ(model_->metrics.requests_by_code[0], 0U);
}

TEST_F(ArrivingAdmissionTest, NothingIsPaddedThatHasNotCome) {
  MessageBuilder message;
  message.Raw("B", "UINT8", {2, 2}, 4).Raw("A", "UINT8", {2, 3}, 6).Arrives(3);
  message_ = std::move(message);
  EXPECT_FALSE(Admit());
}

// Gives or keeps what the test says.
class FakeCache final : public AnswerCache {
 public:
  bool TryAnswer(Request* request) override {
    ++asked;
    rows = request->rows;
    if (has_answer) request->reply.Send(Answer());
    return has_answer;
  }
  void Keep(const Request&, const Answer&) override {}

  bool has_answer = false;
  int asked = 0;
  uint32_t rows = 0;
};

class CachedAdmissionTest : public AdmissionTest {
 protected:
  FakeCache& cache_ = static_cast<FakeCache&>(*(model_->cache = std::make_unique<FakeCache>()));
};

TEST_F(CachedAdmissionTest, AKeptAnswerEndsTheRequestBeforeTheQueue) {
  cache_.has_answer = true;
  queue_.refusal = absl::ResourceExhaustedError("full");
  EXPECT_TRUE(Handle().ok());
  EXPECT_TRUE(copied_);
  EXPECT_EQ(cache_.rows, 2u);
  EXPECT_EQ(queue_.commits, 0);
}

TEST_F(CachedAdmissionTest, TheContentOfAnArrivingRequestIsNotKnown) {
  message_.Arrives(3);
  RecordingReplySink sink;
  request_.reply = Reply(&sink);
  request_.deadline_ns = clock_.NowNs() + kNsPerSecond;
  EXPECT_FALSE(admission_.AdmitArriving(*message_, &request_));
  EXPECT_EQ(cache_.asked, 0);
  request_.reply.Fail(absl::OkStatus());
}

TEST_F(CachedAdmissionTest, WithoutOneTheRequestIsAdmitted) {
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(cache_.asked, 1);
  EXPECT_EQ(queue_.commits, 1);
}

TEST_F(CachedAdmissionTest, ARequestThatIsRefusedOrLateIsNotLookedFor) {
  cache_.has_answer = true;
  EXPECT_TRUE(absl::IsDeadlineExceeded(Handle(/*timeout_ns=*/0)));
  message_.Wanted("nothing");
  EXPECT_TRUE(absl::IsInvalidArgument(Handle()));
  EXPECT_EQ(cache_.asked, 0);
}

TEST_F(CachedAdmissionTest, ADecoupledModelIsNotLookedFor) {
  cache_.has_answer = true;
  model_->spec.decoupled = true;
  message_->takes_many = true;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(cache_.asked, 0);
  EXPECT_EQ(queue_.commits, 1);
}

TEST_F(CachedAdmissionTest, NoAnswerIsLookedForByBytesThatMayChange) {
  cache_.has_answer = true;
  inputs_may_change_ = true;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(cache_.asked, 0);
  EXPECT_EQ(queue_.commits, 1);
}

// A queue that another generation takes over from while a request looks for it.
class ClosedQueue final : public RequestQueue {
 public:
  explicit ClosedQueue(std::function<void()> on_reserve) : on_reserve_(std::move(on_reserve)) {}
  absl::Status Reserve(Request*, RowTargets*) override {
    on_reserve_();
    return absl::AbortedError("the model was replaced");
  }
  void Cancel(Request*) override {}
  void Close() override {}

 private:
  std::function<void()> on_reserve_;
};

TEST_F(AdmissionTest, LooksAgainWhenTheModelWasReplaced) {
  auto old = std::make_shared<ServedModel>();
  old->name = "m";
  old->spec = model_->spec;
  old->loaded = true;
  old->queue = std::make_unique<ClosedQueue>([this] { models_.Publish(model_); });
  models_.Publish(old);
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(queue_.commits, 1);
  EXPECT_EQ(queue_.memory, "xxx\7xxx\7xxxx");
  EXPECT_EQ(request_.model, model_);
}

// A model of rows of tokens with this vocabulary.
std::shared_ptr<ServedModel> TextModel(const char* words) {
  auto model = std::make_shared<ServedModel>();
  model->name = "m";
  model->spec.max_batch_size = 4;
  model->spec.inputs = {{"input_ids", DataType::kInt64, {-1}},
                        {"attention_mask", DataType::kInt64, {-1}}};
  model->spec.pad = {{"input_ids", 0, {4}, 0, {}}, {"attention_mask", 0, {4}, 0, {}}};
  model->texts = std::make_shared<const TextEncoder>(
      *text::Tokenizer::FromVocabulary(words, /*lowers_case=*/true), TextPolicy());
  model->loaded = true;
  return model;
}

class TextAdmissionTest : public AdmissionTest {
 protected:
  TextAdmissionTest() {
    models_.Publish(text_model_);
    *message_.operator->() = *texts_.Strings("text", {"a"});
  }

  // The numbers of the two tensors of the row that was copied.
  std::vector<int64_t> Copied() const {
    std::vector<int64_t> numbers(text_queue_.memory.size() / sizeof(int64_t));
    std::memcpy(numbers.data(), text_queue_.memory.data(), text_queue_.memory.size());
    return numbers;
  }

  std::shared_ptr<ServedModel> text_model_ = TextModel("[UNK]\n[CLS]\n[SEP]\na\n");
  FakeQueue& text_queue_ =
      static_cast<FakeQueue&>(*(text_model_->queue = std::make_unique<FakeQueue>()));
  MessageBuilder texts_;
};

TEST_F(TextAdmissionTest, TextsEnterTheQueueAsPaddedTokens) {
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(text_queue_.commits, 1);
  EXPECT_EQ(Copied(), (std::vector<int64_t>{1, 3, 2, 0, 1, 1, 1, 0}));
}

TEST_F(TextAdmissionTest, TextsAreEncodedAgainWhenTheModelWasReplaced) {
  auto old = TextModel("[UNK]\n[SEP]\n[CLS]\n");
  old->queue = std::make_unique<ClosedQueue>([this] { models_.Publish(text_model_); });
  models_.Publish(old);
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(Copied(), (std::vector<int64_t>{1, 3, 2, 0, 1, 1, 1, 0}));
}

TEST_F(TextAdmissionTest, RefusalsOfTextsCarryTheId) {
  message_->inputs[0].dims = {};
  message_->id = "17";
  EXPECT_EQ(Handle(),
            absl::InvalidArgumentError("[request id: 17] unexpected shape for input 'text' for "
                                       "model 'm'. Expected [-1,1], got []."));
  EXPECT_EQ(text_queue_.commits, 0);
}

// Lets one request go on, and remembers how its texts ended.
class FakeTextWaiter final : public TextWaiter {
 public:
  absl::Status GoOn() const override { return awaited; }
  void TextsDone(const absl::Status& status) override {
    ended = status;
    done.release();
  }

  absl::Status awaited;
  absl::Status ended;
  std::binary_semaphore done{0};
};

class LongTextAdmissionTest : public TextAdmissionTest {
 protected:
  LongTextAdmissionTest() {
    text_threads_.Start("texts", 1);
    MessageBuilder& message = long_texts_;
    message.Strings("text", {"a " + std::string(kInlineTextBytes, 'b')}).Id("17");
    *message_.operator->() = *message;
    request_.reply = Reply(&sink_);
    request_.arrival_ns = clock_.NowNs();
    request_.deadline_ns = clock_.NowNs() + kNsPerSecond;
  }

  absl::Status EncodeElsewhere() {
    FakeTextWaiter waiter;
    waiter.awaited = awaited_;
    admission_.EncodeTexts(*message_, &request_, &waiter);
    waiter.done.acquire();
    return waiter.ended;
  }

  MessageBuilder long_texts_;
  RecordingReplySink sink_;
  absl::Status awaited_;
};

TEST_F(LongTextAdmissionTest, LongTextsAreEncodedOnAnotherThread) {
  ASSERT_EQ(admission_.Handle(*message_, &request_), Handled::kAwaitsTexts);
  EXPECT_EQ(text_queue_.commits, 0);
  EXPECT_EQ(sink_.endings(), 0);
  ASSERT_TRUE(EncodeElsewhere().ok());
  EXPECT_EQ(admission_.Handle(*message_, &request_), Handled::kCopied);
  EXPECT_EQ(text_queue_.commits, 1);
  EXPECT_EQ(Copied(), (std::vector<int64_t>{1, 3, 0, 2, 1, 1, 1, 1}));
}

TEST_F(LongTextAdmissionTest, TextsBeyondTheBoundOfARequestAreRefused) {
  message_->inputs[0].payload.bytes = 20'001;
  EXPECT_EQ(admission_.Handle(*message_, &request_), Handled::kCopied);
  EXPECT_EQ(sink_.status(),
            absl::InvalidArgumentError("[request id: 17] the texts of the request have 20001 "
                                       "bytes; at most 20000 are served"));
}

TEST_F(TextAdmissionTest, TextsOfTooManyTokensAreRefused) {
  const Admission::TextBounds bounds = {.bytes = 20'000, .tokens = 2};
  message_->id = "17";
  RecordingReplySink sink;
  request_.reply = Reply(&sink);
  request_.arrival_ns = clock_.NowNs();
  request_.deadline_ns = clock_.NowNs() + kNsPerSecond;
  Admission(&models_, &clock_, &text_threads_, &rates_, bounds).Handle(*message_, &request_);
  EXPECT_EQ(sink.status(),
            absl::InvalidArgumentError("[request id: 17] the texts of the request "
                                       "have more than 2 tokens; no more are served"));
  EXPECT_EQ(text_queue_.commits, 0);
}

TEST_F(TextAdmissionTest, TheRequestsOfACallHaveTheBoundTogether) {
  std::atomic<uint64_t> tokens{4'000 - 3};
  message_->texts.call_tokens = &tokens;
  EXPECT_TRUE(Handle().ok()) << "three more";
  EXPECT_EQ(tokens, 4'000u);
  EXPECT_TRUE(absl::IsInvalidArgument(Handle()));
  EXPECT_EQ(text_queue_.commits, 1);
}

// The request has two rows. Rows that are shorter than it count as parts of a row.
TEST_F(AdmissionTest, ARequestKnowsWhatItsCallAsksForAfterIt) {
  CallRows call;
  message_->texts.call_rows = &call;
  const auto behind = [&](int64_t rows, int64_t work, uint64_t own_work) {
    call.rows = rows;
    call.work = work;
    message_->texts.own_work = own_work;
    EXPECT_TRUE(Handle().ok());
    return request_.rows_behind;
  };
  EXPECT_EQ(behind(10, 100, 20), 8u) << "two of ten, all alike";
  EXPECT_EQ(call.rows, 8);
  EXPECT_EQ(call.work, 80);
  EXPECT_EQ(behind(10, 100, 50), 2u) << "the others are short";
  EXPECT_EQ(behind(10, 100, 2), 8u) << "the others are long";
  EXPECT_EQ(behind(1, 10, 20), 0u) << "asked again by another generation";
  message_->texts.call_rows = nullptr;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(request_.rows_behind, 0u) << "a call of one request";
}

TEST_F(TextAdmissionTest, TextsThatAreEncodedAgainCountOnce) {
  auto old = TextModel("[UNK]\n[SEP]\n[CLS]\n");
  old->queue = std::make_unique<ClosedQueue>([this] { models_.Publish(text_model_); });
  models_.Publish(old);
  std::atomic<uint64_t> tokens{0};
  message_->texts.call_tokens = &tokens;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(tokens, 3u);
}

TEST_F(LongTextAdmissionTest, LongTextsAreEncodedAgainWhenTheModelWasReplaced) {
  ASSERT_EQ(admission_.Handle(*message_, &request_), Handled::kAwaitsTexts);
  ASSERT_TRUE(EncodeElsewhere().ok());
  auto fresh = TextModel("[UNK]\n[CLS]\n[SEP]\nc\na\n");
  auto queue = std::make_unique<FakeQueue>();
  FakeQueue& fresh_queue = *queue;
  fresh->queue = std::move(queue);
  models_.Publish(fresh);
  ASSERT_EQ(admission_.Handle(*message_, &request_), Handled::kAwaitsTexts);
  ASSERT_TRUE(EncodeElsewhere().ok());
  EXPECT_EQ(admission_.Handle(*message_, &request_), Handled::kCopied);
  EXPECT_EQ(fresh_queue.commits, 1);
  EXPECT_EQ(text_queue_.commits, 0);
}

TEST_F(LongTextAdmissionTest, ASuccessorThatTakesTheTextsAsTheyAreHasNoTokensOfThem) {
  ASSERT_EQ(admission_.Handle(*message_, &request_), Handled::kAwaitsTexts);
  ASSERT_TRUE(EncodeElsewhere().ok());
  ASSERT_NE(request_.tokens, nullptr);
  request_.row_of_text = {0, 0};  // as equal texts leave it
  auto fresh = TextModel("[UNK]\n[CLS]\n[SEP]\na\n");
  fresh->spec.inputs = {{"text", DataType::kBytes, {2}}};
  fresh->spec.pad.clear();
  fresh->queue = std::make_unique<FakeQueue>();
  models_.Publish(fresh);
  EXPECT_EQ(admission_.Handle(*message_, &request_), Handled::kCopied);
  EXPECT_TRUE(absl::IsInvalidArgument(sink_.status()));
  EXPECT_TRUE(request_.row_of_text.empty());
  EXPECT_EQ(request_.tokens, nullptr);
  EXPECT_EQ(request_.token_count, 0U);
}

TEST_F(LongTextAdmissionTest, NobodyAwaitsTheTexts) {
  ASSERT_EQ(admission_.Handle(*message_, &request_), Handled::kAwaitsTexts);
  awaited_ = absl::CancelledError("gone");
  EXPECT_EQ(EncodeElsewhere(), absl::CancelledError("[request id: 17] gone"));
  request_.reply.Fail(awaited_);
}

TEST_F(AdmissionTest, AModelThatIsReplacedWithoutEndIsUnavailable) {
  model_->queue = std::make_unique<ClosedQueue>([] {});
  EXPECT_EQ(Handle(), absl::UnavailableError("the model was replaced"));
}

TEST_F(AdmissionTest, ADecoupledModelTakesStreamsAlone) {
  model_->spec.decoupled = true;
  EXPECT_EQ(Handle(),
            absl::UnimplementedError(
                "ModelInfer RPC doesn't support models with decoupled transaction policy"));
  EXPECT_EQ(queue_.commits, 0);
  message_->takes_many = true;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(queue_.commits, 1);
}

TEST_F(AdmissionTest, UnknownModel) {
  message_->model = "nope";
  EXPECT_EQ(Handle(), absl::NotFoundError("Request for unknown model: 'nope' is not found"));
}

TEST_F(AdmissionTest, UnknownVersion) {
  message_->version = "99";
  EXPECT_EQ(Handle(),
            absl::NotFoundError("Request for unknown model: 'm' version 99 is not found"));
}

TEST_F(AdmissionTest, BadVersion) {
  message_->version = "abc";
  EXPECT_EQ(Handle(), absl::InvalidArgumentError(
                          "failed to get model version from specified version string 'abc'"));
}

TEST_F(AdmissionTest, UnknownModelsCarryNoId) {
  message_.Id("17");
  message_->model = "nope";
  EXPECT_EQ(Handle(), absl::NotFoundError("Request for unknown model: 'nope' is not found"));
  message_->model = "m";
  message_->version = "99";
  EXPECT_EQ(Handle(),
            absl::NotFoundError("Request for unknown model: 'm' version 99 is not found"));
}

// Whoever lent the payload may take it back only then.
TEST_F(AdmissionTest, SaysWhetherThePayloadIsStillLookedAt) {
  EXPECT_TRUE(Handle().ok());
  EXPECT_TRUE(copied_);
  queue_.has_no_room = true;
  EXPECT_TRUE(Handle().ok());
  EXPECT_FALSE(copied_);
  EXPECT_EQ(queue_.commits, 1);
  message_->model = "nope";
  EXPECT_FALSE(Handle().ok());
  EXPECT_TRUE(copied_);
}

TEST_F(AdmissionTest, ModelThatIsNotReady) {
  model_->loaded = false;
  EXPECT_EQ(Handle(), absl::UnavailableError("Request for model 'm' is not at ready state"));
}

TEST_F(AdmissionTest, AModelThatLostItsWorkersKeepsItsQueue) {
  model_->ready = false;
  EXPECT_TRUE(Handle().ok());
}

TEST_F(AdmissionTest, Starting) {
  models_.stage = ServingStage::kStarting;
  EXPECT_EQ(Handle(), absl::UnavailableError("Server not ready"));
}

TEST_F(AdmissionTest, StoppingAdmitsUntilTheLameDuckTimeIsOver) {
  models_.stage = ServingStage::kLameDuck;
  EXPECT_TRUE(Handle().ok());
}

TEST_F(AdmissionTest, Stopping) {
  models_.stage = ServingStage::kExiting;
  EXPECT_EQ(Handle(), absl::UnavailableError("Server exiting"));
}

TEST_F(AdmissionTest, AStepOfARequestInsideIsAdmittedWhileTheServerStops) {
  models_.stage = ServingStage::kExiting;
  is_step_ = true;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(queue_.commits, 1);
}

TEST_F(AdmissionTest, ExpiredOnArrivalIsRefusedUnvalidated) {
  message_->inputs[0].datatype = "nonsense";
  message_.Id("17");
  EXPECT_EQ(Handle(0), absl::DeadlineExceededError("Request timeout expired"));
}

TEST_F(AdmissionTest, ErrorsOfValidationCarryTheIdOnce) {
  message_.Id("17");
  message_->inputs[1].datatype = "INT8";
  EXPECT_EQ(Handle(),
            absl::InvalidArgumentError("[request id: 17] inference input 'B' data-type is "
                                       "'INT8', but model 'm' expects 'UINT8'"));
}

TEST_F(AdmissionTest, BeyondTheLargestBucketCarriesTheId) {
  MessageBuilder message;
  message.Raw("A", "UINT8", {1, 5}, 5).Raw("B", "UINT8", {1, 2}, 2).Id("17");
  *message_.operator->() = *message;
  EXPECT_EQ(Handle(), absl::InvalidArgumentError(
                          "[request id: 17] input 'A' is of length 5, but at most 4 is served"));
}

TEST_F(AdmissionTest, QueueFullCarriesTheIdAndWhenToTryAgain) {
  queue_.refusal = Busy("Exceeds maximum queue size");
  EXPECT_EQ(Handle(), Busy("Exceeds maximum queue size"));
  message_.Id("17");
  EXPECT_EQ(Handle(), Busy("[request id: 17] Exceeds maximum queue size"));
  EXPECT_EQ(queue_.commits, 0);
}

TEST_F(AdmissionTest, TheTimeoutParameterShortensTheDeadline) {
  message_->timeout_us = 1000;
  EXPECT_TRUE(Handle(kNsPerSecond, /*patience_ns=*/kNsPerSecond).ok());
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerMs);
  EXPECT_EQ(request_.patience_ns, 0) << "it is of all answers together";
}

TEST_F(AdmissionTest, TheTimeoutParameterNeverLengthensTheDeadline) {
  for (const int64_t timeout_us : {int64_t{2'000'000}, INT64_MAX, INT64_MAX / 1000 + 1}) {
    message_->timeout_us = timeout_us;
    EXPECT_TRUE(Handle().ok());
    EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerSecond) << timeout_us;
  }
}

TEST_F(AdmissionTest, TheQueuesTimeoutIsOfTheWaitAlone) {
  model_->facts.queue.levels[0].timeout_ns = kNsPerMs;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerMs);
  EXPECT_EQ(request_.final_deadline_ns, clock_.NowNs() + kNsPerSecond);
  request_.ForgetModel();
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerSecond)
      << "another generation has its own";
  EXPECT_TRUE(Handle(kNsPerMs / 2).ok());
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerMs / 2);
  EXPECT_EQ(request_.final_deadline_ns, 0);
}

TEST_F(AdmissionTest, ThePriorityParameterNamesALevel) {
  QueuePolicies& queue = model_->facts.queue;
  queue.levels.resize(3);
  queue.default_level = 1;
  const std::pair<uint64_t, uint32_t> rows[] = {{0, 1}, {1, 0}, {3, 2}, {4, 1}, {UINT64_MAX, 1}};
  for (const auto& [priority, level] : rows) {
    message_->priority = priority;
    EXPECT_TRUE(Handle().ok());
    EXPECT_EQ(request_.level, level) << priority;
  }
  request_.ForgetModel();
  EXPECT_EQ(request_.level, 0u) << "another generation has levels of its own";
}

TEST_F(AdmissionTest, ALevelMayForbidThatTheClientShortensItsTimeout) {
  QueuePolicy& policy = model_->facts.queue.levels[0];
  policy.allow_timeout_override = false;
  message_->timeout_us = 1000;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerMs) << "there is none to shorten";
  request_.ForgetModel();
  policy.timeout_ns = 5 * kNsPerMs;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + 5 * kNsPerMs);
  EXPECT_EQ(request_.final_deadline_ns, clock_.NowNs() + kNsPerSecond);
}

TEST_F(AdmissionTest, WhoYieldsKeepsTheTimeForItsAnswer) {
  QueuePolicy& policy = model_->facts.queue.levels[0];
  policy.timeout_ns = 5 * kNsPerMs;
  policy.timeout_action = TimeoutAction::kDelay;
  for (const int64_t timeout_us : {0, 1000, 10'000}) {
    message_->timeout_us = timeout_us;
    EXPECT_TRUE(Handle().ok());
    EXPECT_TRUE(request_.yields);
    const int64_t wait_ns = timeout_us == 1000 ? kNsPerMs : policy.timeout_ns;
    EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + wait_ns) << timeout_us;
    EXPECT_EQ(request_.final_deadline_ns, clock_.NowNs() + kNsPerSecond);
    request_.ForgetModel();
  }
  EXPECT_FALSE(request_.yields);
}

TEST_F(AdmissionTest, ATimeoutOfZeroOrLessIsNone) {
  for (const int64_t timeout_us : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    message_->timeout_us = timeout_us;
    EXPECT_TRUE(Handle().ok());
    EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerSecond);
  }
}

}  // namespace
}  // namespace mpsd
