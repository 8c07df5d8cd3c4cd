// FramePump: the open loop of one client thread over FrameConnections.
//
//   turn   counts answers ─▶ starts due calls ─▶ gives up expired calls ─▶ writes
//   sleep  until a call is due, and while some are open for a fifth of a millisecond
//
// Wake-ups would cost more than the calls do. So a latency is up to a turn too long.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/traffic/answer_tally.h"
#include "client/traffic/due_calls.h"
#include "client/traffic/load_run.h"
#include "client/traffic/pump.h"
#include "client/traffic/request_picker.h"
#include "client/traffic/request_set.h"
#include "load_tests/generator/frame_connection.h"

namespace mpsd::load {

// The plan and the requests outlive the pump. Lives on the thread that calls Run().
class FramePump final : public traffic::Pump {
 public:
  // REQUIRES: the plan is an open loop, without TLS, token or streams.
  FramePump(const traffic::LoadPlan& plan, const std::vector<traffic::PreparedRequest>& requests,
            uint32_t thread);

  // UNAVAILABLE if it cannot connect. Called once, before Run().
  absl::Status Connect();

  void Run(const traffic::Window& window) override;
  const traffic::LoadCounts& counts() const override { return tally_.counts(); }

 private:
  // A record of one call at a time.
  struct Call : FrameCall {
    FrameConnection* connection = nullptr;
    uint64_t number = 0;  // from 1; 0: the record is free
  };

  // The call has ended if its record has another number by then.
  struct Expiry {
    int64_t at_ns = 0;
    Call* call = nullptr;
    uint64_t number = 0;
  };

  void Turn(int64_t now_ns);
  void SendDue(int64_t now_ns);
  void Send(int64_t now_ns, int64_t intended_ns);
  void GiveUpExpired(int64_t now_ns);
  void GiveUp(Call* call, grpc::StatusCode code);
  void Count(Call* call);
  bool IsDone() const { return !next_ns_.has_value() && free_.size() == call_count_; }
  int64_t NextTurnNs(int64_t now_ns) const;

  const traffic::LoadPlan& plan_;
  const std::vector<traffic::PreparedRequest>& requests_;
  const uint32_t thread_;
  std::vector<std::string> messages_;  // each request as gRPC frames it
  traffic::RequestPicker picker_;
  traffic::AnswerTally tally_;

  boost::asio::io_context io_;
  std::vector<std::unique_ptr<FrameConnection>> connections_;
  size_t next_connection_ = 0;

  const uint32_t call_count_;
  std::unique_ptr<Call[]> calls_;
  std::vector<Call*> free_;
  uint64_t last_number_ = 0;
  std::deque<Expiry> expiries_;  // in the order of their times

  // The current run.
  traffic::Window window_;
  std::optional<traffic::DueCalls> due_;
  std::optional<int64_t> next_ns_;  // when the next call is due
  int64_t patience_ns_ = 0;         // when open calls are given up
};

}  // namespace mpsd::load
