// Requests of strings: a run each, of its own length.
#include <cstring>

#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

std::string Element(const std::string& text) {
  const auto length = static_cast<uint32_t>(text.size());
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text;
}

// One string a row, and a number.
class PoolStrings : public PoolFixture {
 protected:
  PoolStrings() {
    model_.spec.inputs = {{"T", DataType::kBytes, {1}}, {"N", DataType::kFp32, {1}}};
    model_.spec.outputs = {{"T", DataType::kBytes, {1}}, {"N", DataType::kFp32, {1}}};
  }

  FakeCall* Send(const std::vector<std::string>& texts) {
    FakeCall& call = calls_.emplace_back();
    std::string bytes;
    for (const std::string& text : texts) bytes += Element(text);
    call.Describe(static_cast<uint32_t>(texts.size()), {1}, clock_.NowNs(), kTimeoutNs);
    RequestInput strings;
    strings.datatype = DataType::kBytes;
    strings.dims = strings.padded_dims = {1};
    strings.tensor_bytes = bytes.size();
    call.request.inputs.insert(call.request.inputs.begin(), strings);
    call.request.key.push_back(1);
    call.request.wanted_outputs = {0, 1};
    RowTargets targets;
    EXPECT_TRUE(pool_->Reserve(&call.request, &targets).ok());
    std::memcpy(targets.inputs[0], bytes.data(), bytes.size());
    const float number = static_cast<float>(bytes.size());
    for (uint32_t row = 0; row < texts.size(); ++row) {
      std::memcpy(targets.inputs[1] + row * sizeof(number), &number, sizeof(number));
    }
    pool_->Commit(&call.request);
    return &call;
  }

  static void ExpectAnswer(const FakeCall& call, const std::vector<std::string>& texts) {
    ASSERT_TRUE(call.status().ok()) << call.status();
    std::string bytes;
    for (const std::string& text : texts) bytes += Element(text);
    ASSERT_EQ(call.sink.outputs().size(), 2u);
    EXPECT_EQ(call.sink.outputs()[0].bytes, bytes);
    EXPECT_EQ(call.sink.outputs()[0].dims, (Dims{static_cast<int64_t>(texts.size()), 1}));
    EXPECT_EQ(call.sink.outputs()[1].bytes.size(), texts.size() * sizeof(float));
  }
};

TEST_F(PoolStrings, ShareABatchAndGetTheirOwnRowsBack) {
  MakePool();
  FakeCall* first = Send({"one", ""});
  FakeCall* second = Send({std::string(5000, 'x')});
  FakeWorker* worker = AddWorker();
  const std::optional<FakeWorker::Job> job = worker->Take();
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->row_count, 3u);
  EXPECT_EQ(job->run_count, 2u);
  Complete(worker, *job);
  ExpectAnswer(*first, {"one", ""});
  ExpectAnswer(*second, {std::string(5000, 'x')});
  EXPECT_EQ(model_.metrics.input_slabs_leased, 0) << "an extent a request";
}

TEST_F(PoolStrings, WhatCrashedAWorkerIsKnownAgain) {
  MakePoolOfOne();
  FakeCall* struck = Send({"poison", ""});
  FakeCall* in_line = Send({"poison", ""});
  Kill(0, WorkerEnd::kCrashed);
  AddWorker();
  Kill(0, WorkerEnd::kCrashed);
  FakeCall* later = Send({"poison", ""});
  for (const FakeCall* call : {struck, in_line, later}) {
    EXPECT_EQ(call->status(), absl::InternalError("request crashed its worker"));
  }
  FakeCall* other = Send({"poison", "!"});
  FakeCall* swapped = Send({"", "poison"});
  Serve(AddWorker());
  ExpectAnswer(*other, {"poison", "!"});
  ExpectAnswer(*swapped, {"", "poison"});
}

TEST_F(PoolStrings, GoAgainFromWhereTheyLie) {
  MakePool();
  FakeCall* call = Send({"again"});
  AddWorker();
  ServeByAnother();
  ExpectAnswer(*call, {"again"});
}

TEST_F(PoolStrings, AWorkerThatLiesAboutAnElementIsCondemned) {
  MakePool();
  FakeCall* call = Send({"honest"});
  FakeWorker* worker = AddWorker();
  const std::optional<FakeWorker::Job> job = worker->Take();
  worker->WriteRecord(*job);
  const uint32_t lie = 7;
  std::memcpy(job->output, &lie, sizeof(lie));
  worker->Publish(*job);
  Drain();
  EXPECT_EQ(call->endings(), 0);
  ASSERT_EQ(keeper_.condemned().size(), 1u);
  ServeByAnother();
  ExpectAnswer(*call, {"honest"});
}

TEST_F(PoolStrings, AnswersLargerThanTheirLeaseAskForMore) {
  MakePool();
  const std::string text(100'000, 'y');
  FakeCall* call = Send({text});
  FakeWorker* worker = AddWorker();
  const std::optional<FakeWorker::Job> job = worker->Take();
  ASSERT_LT(job->output_bytes, text.size());
  worker->CompleteWith(*job, BatchOutcome::kOutputTooLarge, "", text.size() + 100);
  Drain();
  EXPECT_EQ(call->endings(), 0);
  Serve(worker);
  ExpectAnswer(*call, {text});
}

}  // namespace
}  // namespace mpsd
