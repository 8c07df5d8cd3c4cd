#include "server/compose/sequences/sequence_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "proto/base/limits.h"
#include "server/request/infer_message.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

constexpr int64_t kIdleNs = 1000;
constexpr uint64_t kStateBytes = 8;

// Two lanes with room for two sequences each. Lives on one thread.
class SequenceTableTest : public testing::Test {
 protected:
  SequenceTableTest() { AddLanes(); }
  ~SequenceTableTest() override {
    SequenceTable::TurnsToEnd rest;
    table_.EndAll(absl::UnavailableError("over"), &rest);
    begun_.clear();
    EXPECT_EQ(states_.taken_bytes(), 0u);
    EXPECT_EQ(metrics_.open_sequences, 0);
  }

  void AddLanes() {
    const uint64_t pins[] = {11, 12};
    table_.AddLanes(pins);
  }

  Request* NewRequest(uint32_t tenant = 0, int64_t deadline_ns = INT64_MAX) {
    Request& request = requests_.emplace_back();
    request.tenant = tenant;
    request.deadline_ns = deadline_ns;
    return &request;
  }

  absl::Status Admit(uint64_t id, Request* request, bool starts, bool ends = false) {
    SequenceKey key;
    key.number = id;
    key.tenant = request->tenant;
    return table_.Admit(key, {request, starts, ends}, kStateBytes);
  }
  Request* Admitted(uint64_t id, bool starts, bool ends = false) {
    Request* const request = NewRequest();
    EXPECT_TRUE(Admit(id, request, starts, ends).ok());
    return request;
  }

  // Begins all turns that may; returns how many.
  size_t BeginAll() {
    size_t count = 0;
    while (auto begun = table_.Begin(clock_.NowNs(), &ended_)) {
      begun_.push_back(*std::move(begun));
      ++count;
    }
    return count;
  }
  const SequenceTable::Begun& BegunOf(const Request* request) {
    for (const auto& begun : begun_) {
      if (begun.turn.request == request) return begun;
    }
    ADD_FAILURE() << "its turn has not begun";
    return begun_.front();
  }
  void Done(const Request* request,
            SequenceTable::Outcome outcome = SequenceTable::Outcome::kAnswered) {
    const SequenceTable::Begun begun = BegunOf(request);
    table_.Done(begun.sequence.get(), begun.turn, outcome, clock_.NowNs(), &ended_);
  }
  // A request of that sequence that is begun and answered.
  void Run(uint64_t id, bool starts, bool ends = false) {
    const Request* const request = Admitted(id, starts, ends);
    EXPECT_EQ(BeginAll(), 1u);
    Done(request);
  }
  void Tick() { table_.TakeExpired(clock_.NowNs(), &ended_); }
  uint64_t Ended(SequenceEnd end) const {
    return metrics_.ended_sequences[static_cast<size_t>(end)];
  }
  absl::Status Follow(uint64_t id) { return Admit(id, NewRequest(), /*starts=*/false); }
  static bool Says(const absl::Status& status, const std::string& text) {
    return absl::IsInvalidArgument(status) &&
           std::string(status.message()).find(text) != std::string::npos;
  }

  FakeClock clock_;
  ByteAllowance states_{10 * kStateBytes};
  ModelMetrics metrics_;
  std::deque<Request> requests_;
  SequenceTable table_{"m",
                       {.candidates = 2, .idle_ns = kIdleNs, .most_waiting = 6, .most_bytes = 100},
                       &states_,
                       &metrics_};
  std::deque<SequenceTable::Begun> begun_;
  SequenceTable::TurnsToEnd ended_;
};

TEST_F(SequenceTableTest, RefusesARequestOfASequenceThatHasNotBegun) {
  EXPECT_TRUE(Says(Follow(7),
                   "inference request for sequence 7 to model 'm' must specify the START "
                   "flag on the first request of the sequence: it is not open"));
  EXPECT_TRUE(Says(Follow(7), "'sequence_start' opens it"));
  EXPECT_EQ(table_.open(), 0u);
}

TEST_F(SequenceTableTest, RunsTheRequestsOfASequenceOneAfterTheOther) {
  const Request* const first = Admitted(7, true);
  const Request* const second = Admitted(7, false);
  const Request* const third = Admitted(7, false, /*ends=*/true);
  EXPECT_EQ(BeginAll(), 1u);
  EXPECT_EQ(BeginAll(), 0u);
  Done(first);
  EXPECT_EQ(BeginAll(), 1u);
  Done(second);
  EXPECT_EQ(BeginAll(), 1u);
  EXPECT_EQ(metrics_.open_sequences, 1);
  Done(third);
  EXPECT_EQ(metrics_.open_sequences, 0);
  EXPECT_EQ(Ended(SequenceEnd::kEnded), 1u);
  EXPECT_TRUE(Says(Follow(7), "it has had its last request"));
}

TEST_F(SequenceTableTest, KeepsASequenceOnItsLane) {
  const Request* const one = Admitted(1, true);
  const Request* const two = Admitted(2, true);
  EXPECT_EQ(BeginAll(), 2u);
  const uint64_t pin = BegunOf(one).sequence->pin;
  EXPECT_NE(pin, BegunOf(two).sequence->pin) << "lanes share sequences evenly";
  Done(one);
  const Request* const later = Admitted(1, false);
  EXPECT_EQ(BeginAll(), 1u);
  EXPECT_EQ(BegunOf(later).sequence->pin, pin);
}

TEST_F(SequenceTableTest, LetsSequencesWaitWhileTheLanesAreFull) {
  for (uint64_t id = 1; id <= 4; ++id) Run(id, true);
  const Request* const fifth = Admitted(5, true);
  const Request* const sixth = Admitted(6, true);
  EXPECT_EQ(BeginAll(), 0u);
  Run(2, false, /*ends=*/true);
  EXPECT_EQ(BeginAll(), 1u);
  Done(fifth);
  Run(5, false, /*ends=*/true);
  EXPECT_EQ(BeginAll(), 1u);
  Done(sixth);
}

TEST_F(SequenceTableTest, ClosesASequenceThatIsIdleForTooLong) {
  Run(7, true);
  clock_.Advance(kIdleNs - 1);
  Tick();
  EXPECT_EQ(table_.open(), 1u);
  Run(7, false);
  clock_.Advance(kIdleNs - 1);
  Tick();
  EXPECT_EQ(table_.open(), 1u) << "the time begins anew with each answer";
  clock_.Advance(1);
  Tick();
  EXPECT_EQ(table_.open(), 0u);
  begun_.clear();
  EXPECT_EQ(states_.taken_bytes(), 0u);
  EXPECT_EQ(Ended(SequenceEnd::kIdle), 1u);
  EXPECT_TRUE(Says(Follow(7), "no request of it came for too long"));
}

TEST_F(SequenceTableTest, DoesNotCloseASequenceThatWaitsOrRuns) {
  const Request* const request = Admitted(7, true);
  BeginAll();
  clock_.Advance(10 * kIdleNs);
  Tick();
  EXPECT_EQ(table_.open(), 1u);
  Done(request);
}

TEST_F(SequenceTableTest, AStartInAnOpenSequenceBeginsAnother) {
  Run(7, true);
  const Request* const again = Admitted(7, true);
  EXPECT_EQ(BeginAll(), 1u);
  EXPECT_TRUE(BegunOf(again).turn.starts);
  EXPECT_EQ(Ended(SequenceEnd::kRestarted), 1u);
  EXPECT_EQ(metrics_.open_sequences, 1);
  Done(again);
}

TEST_F(SequenceTableTest, AStartMayFollowAnEndThatHasNotRun) {
  const Request* const last = Admitted(7, true, /*ends=*/true);
  EXPECT_TRUE(Says(Follow(7), "is not open"));
  const Request* const next = Admitted(7, true);
  EXPECT_EQ(BeginAll(), 1u);
  Done(last);
  EXPECT_EQ(BeginAll(), 1u);
  Done(next);
  EXPECT_EQ(Ended(SequenceEnd::kEnded), 1u);
  EXPECT_EQ(table_.open(), 1u);
}

TEST_F(SequenceTableTest, AFirstRequestThatFailsTakesTheOthersAlong) {
  const Request* const first = Admitted(7, true);
  Request* const second = Admitted(7, false);
  BeginAll();
  Done(first, SequenceTable::Outcome::kFailed);
  ASSERT_EQ(ended_.waiting.size(), 1u);
  EXPECT_EQ(ended_.waiting[0].first, second);
  EXPECT_TRUE(absl::IsUnavailable(ended_.waiting[0].second));
  EXPECT_EQ(table_.open(), 0u);
  EXPECT_EQ(Ended(SequenceEnd::kFailed), 1u);
  EXPECT_TRUE(Says(Follow(7), "its first request was not answered"));
}

TEST_F(SequenceTableTest, ALaterRequestThatFailsEndsNoSequence) {
  Run(7, true);
  const Request* const second = Admitted(7, false);
  BeginAll();
  Done(second, SequenceTable::Outcome::kFailed);
  EXPECT_EQ(table_.open(), 1u);
  Run(7, false);
}

TEST_F(SequenceTableTest, AnEndThatFailsEndsTheSequence) {
  Run(7, true);
  const Request* const last = Admitted(7, false, /*ends=*/true);
  BeginAll();
  Done(last, SequenceTable::Outcome::kFailed);
  EXPECT_EQ(table_.open(), 0u);
}

TEST_F(SequenceTableTest, AnEndThatIsRefusedLeavesTheSequenceOpen) {
  Run(7, true);
  const Request* const last = Admitted(7, false, /*ends=*/true);
  BeginAll();
  Done(last, SequenceTable::Outcome::kRefused);
  EXPECT_EQ(table_.open(), 1u);
  Run(7, false, /*ends=*/true);
  EXPECT_EQ(table_.open(), 0u);
  EXPECT_EQ(Ended(SequenceEnd::kEnded), 1u);
}

TEST_F(SequenceTableTest, AnEndThatIsRefusedClosesTheSequenceThatItStarts) {
  const Request* const only = Admitted(7, true, /*ends=*/true);
  BeginAll();
  Done(only, SequenceTable::Outcome::kRefused);
  EXPECT_EQ(table_.open(), 0u);
  EXPECT_EQ(Ended(SequenceEnd::kFailed), 1u);
}

TEST_F(SequenceTableTest, ARestartThatIsGivenUpClosesTheSequence) {
  const Request* const first = Admitted(7, true);
  Request* const again = Admitted(7, true);
  Request* const follower = Admitted(7, false);
  BeginAll();
  EXPECT_TRUE(table_.Remove(again, clock_.NowNs(), &ended_));
  ASSERT_EQ(ended_.waiting.size(), 1u);
  EXPECT_EQ(ended_.waiting[0].first, follower);
  EXPECT_TRUE(Says(Follow(7), "is not open"));
  Done(first);
  EXPECT_EQ(table_.open(), 0u);
  EXPECT_EQ(Ended(SequenceEnd::kRestarted), 1u);
  EXPECT_EQ(Ended(SequenceEnd::kFailed), 1u);
}

TEST_F(SequenceTableTest, EndsRequestsThatHaveWaitedForTooLong) {
  const Request* const first = Admitted(7, true);
  Request* const late = NewRequest(0, clock_.NowNs() + 5);
  EXPECT_TRUE(Admit(7, late, false).ok());
  BeginAll();
  clock_.Advance(4);
  Tick();
  EXPECT_TRUE(ended_.waiting.empty());
  clock_.Advance(1);
  Tick();
  ASSERT_EQ(ended_.waiting.size(), 1u);
  EXPECT_EQ(ended_.waiting[0].first, late);
  EXPECT_TRUE(absl::IsDeadlineExceeded(ended_.waiting[0].second));
  Done(first);
}

TEST_F(SequenceTableTest, AStartThatHasWaitedForTooLongTakesItsFollowersAlong) {
  const Request* const first = Admitted(7, true);
  BeginAll();
  const Request* const second = Admitted(7, false);
  Request* const late = NewRequest(0, clock_.NowNs() + 5);
  EXPECT_TRUE(Admit(7, late, true).ok());
  Request* const follower = Admitted(7, false);
  clock_.Advance(5);
  Tick();
  ASSERT_EQ(ended_.waiting.size(), 2u);
  EXPECT_EQ(ended_.waiting[0].first, late);
  EXPECT_TRUE(absl::IsDeadlineExceeded(ended_.waiting[0].second));
  EXPECT_EQ(ended_.waiting[1].first, follower);
  EXPECT_TRUE(absl::IsUnavailable(ended_.waiting[1].second));
  Done(first);
  ASSERT_EQ(BeginAll(), 1u);
  Done(second);
  EXPECT_EQ(table_.open(), 0u);
  EXPECT_EQ(Ended(SequenceEnd::kFailed), 1u);
}

TEST_F(SequenceTableTest, BeginsNoTurnThatHasWaitedForTooLong) {
  const Request* const first = Admitted(7, true);
  BeginAll();
  Request* const late = NewRequest(0, clock_.NowNs() + 5);
  EXPECT_TRUE(Admit(7, late, false).ok());
  const Request* const next = Admitted(7, false);
  clock_.Advance(5);
  Done(first);
  EXPECT_EQ(BeginAll(), 1u);
  EXPECT_EQ(BegunOf(next).sequence->running, next);
  ASSERT_EQ(ended_.waiting.size(), 1u);
  EXPECT_EQ(ended_.waiting[0].first, late);
  EXPECT_TRUE(absl::IsDeadlineExceeded(ended_.waiting[0].second));
  Done(next);
}

TEST_F(SequenceTableTest, LosesTheSequencesOfALaneThatIsGone) {
  const Request* const one = Admitted(1, true);
  BeginAll();
  Request* const waits = Admitted(1, false);
  Run(2, true);
  const uint64_t pin = BegunOf(one).sequence->pin;
  table_.LoseLanes({&pin, 1}, &ended_);
  ASSERT_EQ(ended_.waiting.size(), 1u);
  EXPECT_EQ(ended_.waiting[0].first, waits);
  EXPECT_TRUE(absl::IsUnavailable(ended_.waiting[0].second));
  EXPECT_TRUE(absl::IsUnavailable(BegunOf(one).sequence->lost));
  Done(one, SequenceTable::Outcome::kFailed);
  EXPECT_EQ(Ended(SequenceEnd::kLost), 1u);
  EXPECT_TRUE(Says(Follow(1), "its worker is gone"));
  Run(2, false);
  Run(1, true);
}

TEST_F(SequenceTableTest, NobodyWaitsForALaneThatComesTooLate) {
  const uint64_t pins[] = {11, 12};
  table_.LoseLanes(pins, &ended_);
  Request* const impatient = NewRequest(0, clock_.NowNs() + 5);
  EXPECT_TRUE(Admit(1, impatient, true).ok()) << "a lane may come at any moment";
  Request* const patient = NewRequest(0, clock_.NowNs() + 6);
  EXPECT_TRUE(Admit(2, patient, true).ok());
  table_.ExpectLanesAt(clock_.NowNs() + 5, clock_.NowNs(), &ended_);
  ASSERT_EQ(ended_.waiting.size(), 1u);
  EXPECT_EQ(ended_.waiting[0].first, impatient);
  EXPECT_TRUE(absl::IsUnavailable(ended_.waiting[0].second));
  EXPECT_EQ(table_.open(), 1u);
  Request* const late = NewRequest(0, clock_.NowNs() + 5);
  EXPECT_TRUE(absl::IsUnavailable(Admit(1, late, true)));
  AddLanes();
  EXPECT_TRUE(Admit(1, late, true).ok()) << "while there are lanes nothing is expected";
  EXPECT_EQ(BeginAll(), 2u);
  Done(late);
  Done(patient);
}

TEST_F(SequenceTableTest, ForgetsWhatItKnewOnceTheIdBeginsAgain) {
  Run(7, true, /*ends=*/true);
  Run(7, true);
  EXPECT_EQ(table_.open(), 1u);
  Run(7, false);
}

TEST_F(SequenceTableTest, TheSameIdOfAnotherTenantIsAnotherSequence) {
  Request* const mine = NewRequest(/*tenant=*/1);
  EXPECT_TRUE(Admit(7, mine, true).ok());
  Request* const stolen = NewRequest(/*tenant=*/2);
  EXPECT_TRUE(Says(Admit(7, stolen, false), "is not open"));
  EXPECT_TRUE(Admit(7, stolen, true).ok());
  EXPECT_EQ(table_.open(), 2u);
  EXPECT_EQ(BeginAll(), 2u);
  EXPECT_NE(BegunOf(mine).sequence, BegunOf(stolen).sequence);
}

TEST_F(SequenceTableTest, OneTenantLeavesRoomForOthers) {
  for (uint64_t id = 1; id <= 4; ++id) {
    Request* const request = NewRequest(/*tenant=*/1);
    if (!Admit(id, request, true).ok()) break;
  }
  EXPECT_EQ(table_.waiting(), 3u) << "half of the queue";
  EXPECT_EQ(BeginAll(), 2u) << "half of the lanes' places";
  EXPECT_TRUE(Admit(1, NewRequest(/*tenant=*/2), true).ok());
  EXPECT_EQ(BeginAll(), 1u);
}

TEST_F(SequenceTableTest, ASequenceThatEndsGivesItsTenantsPlaceBack) {
  for (uint64_t id = 1; id <= 9; ++id) {  // more than there are places
    Request* const request = NewRequest(/*tenant=*/1);
    ASSERT_TRUE(Admit(id, request, true, /*ends=*/true).ok());
    ASSERT_EQ(BeginAll(), 1u) << id;
    Done(request);
    begun_.clear();
  }
  ASSERT_TRUE(Admit(10, NewRequest(/*tenant=*/1), true).ok());
  ASSERT_TRUE(Admit(11, NewRequest(/*tenant=*/1), true).ok());
  EXPECT_EQ(BeginAll(), 2u) << "as many as a tenant may have that has had none";
}

TEST_F(SequenceTableTest, RefusesWhatExceedsTheQueue) {
  Admitted(7, true);
  for (int i = 0; i < 5; ++i) Admitted(7, false);
  const absl::Status full = Follow(7);
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_EQ(table_.waiting(), 6u);
}

TEST_F(SequenceTableTest, StartsThatWaitForALaneLeaveOpenSequencesTheirRoom) {
  for (uint64_t id = 1; id <= 4; ++id) Run(id, true);
  uint64_t id = 5;
  while (Admit(id, NewRequest(), true).ok()) ++id;
  EXPECT_EQ(table_.waiting(), 3u) << "half of the queue";
  EXPECT_TRUE(Follow(1).ok());
  EXPECT_TRUE(Follow(1).ok()) << "behind another one";
}

TEST_F(SequenceTableTest, ATurnThatBeginsAtOnceNeedsNoRoom) {
  for (uint64_t id = 1; id <= 2; ++id) Run(id, true);
  Request* const runs = Admitted(1, false);
  EXPECT_EQ(BeginAll(), 1u);
  for (int i = 0; i < 6; ++i) Admitted(1, false);
  EXPECT_TRUE(absl::IsResourceExhausted(Follow(1)));
  EXPECT_TRUE(absl::IsResourceExhausted(Admit(3, NewRequest(), true)));
  Request* const last = Admitted(2, false, /*ends=*/true);
  ASSERT_EQ(BeginAll(), 1u);
  Done(last);
  Done(runs);
  EXPECT_EQ(table_.open(), 1u);
}

TEST_F(SequenceTableTest, OneTenantLeavesOthersRoomToWaitForALane) {
  for (uint64_t id = 1; id <= 4; ++id) Run(id, true);
  uint64_t id = 5;
  while (Admit(id, NewRequest(/*tenant=*/1), true).ok()) ++id;
  EXPECT_EQ(table_.waiting(), 2u);
  EXPECT_TRUE(Admit(5, NewRequest(/*tenant=*/2), true).ok());
}

TEST_F(SequenceTableTest, RefusesASequenceThatFindsNoRoomForItsState) {
  ASSERT_TRUE(states_.TryTake(9 * kStateBytes));
  Admitted(1, true);
  const absl::Status full = Admit(2, NewRequest(), true);
  states_.GiveBack(9 * kStateBytes);
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_NE(full.message().find("limits.sequence_states"), std::string::npos);
}

TEST_F(SequenceTableTest, CountsTheBytesThatWait) {
  Payload payload;
  const std::string bytes(60, 'x');
  payload.Append(bytes);
  Request* const first = NewRequest();
  first->inputs.emplace_back().payload = &payload;
  EXPECT_TRUE(Admit(1, first, true).ok());
  Request* const second = NewRequest();
  second->inputs.emplace_back().payload = &payload;
  EXPECT_TRUE(absl::IsResourceExhausted(Admit(2, second, true)));
  BeginAll();
  EXPECT_TRUE(Admit(2, second, true).ok());
}

TEST_F(SequenceTableTest, OneTenantLeavesBytesForOthers) {
  const std::string bytes(60, 'x');
  Payload large;
  large.Append(bytes);
  Payload small;
  small.Append(absl::string_view(bytes).substr(0, 10));
  Request* const first = NewRequest(/*tenant=*/1);
  first->inputs.emplace_back().payload = &large;
  EXPECT_TRUE(Admit(1, first, true).ok());
  Request* const second = NewRequest(/*tenant=*/1);
  second->inputs.emplace_back().payload = &small;
  EXPECT_TRUE(absl::IsResourceExhausted(Admit(2, second, true)));
  Request* const other = NewRequest(/*tenant=*/2);
  other->inputs.emplace_back().payload = &small;
  EXPECT_TRUE(Admit(1, other, true).ok());
  BeginAll();
  EXPECT_TRUE(Admit(2, second, true).ok());
}

TEST_F(SequenceTableTest, RemembersWhyOnlySoManyEnded) {
  for (uint64_t id = 1; id <= kMaxPastSequences + 1; ++id) {
    Run(id, true, /*ends=*/true);
    begun_.clear();
  }
  EXPECT_FALSE(Says(Follow(1), "it has had its last request"));
  EXPECT_TRUE(Says(Follow(2), "it has had its last request"));
}

}  // namespace
}  // namespace mpsd
