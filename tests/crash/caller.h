// Caller: keeps a number of calls open at a server until it is told to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "proto/inference.grpc.pb.h"
#include "tests/crash/call_history.h"
#include "tests/crash/stall_watch.h"

namespace mpsd::crash {

struct CallerPlan {
  std::string address;
  std::string model;
  uint32_t concurrency = 16;
  uint32_t rows_max = 4;
  uint64_t seed = 1;
  double cancel_percent = 0;
  double poison_percent = 0;
  double timeout_percent = 0;  // of the calls that get one between the two
  int64_t timeout_low_ms = 1;
  int64_t timeout_high_ms = 50;
  int64_t patience_ms = 30'000;  // the timeout of all others, and how long the end is waited for
  PayloadPlan payload;
};

// Lives on one thread. A closed loop: each call that ends makes room for the next.
class Caller {
 public:
  Caller(const CallerPlan& plan, std::shared_ptr<grpc::Channel> channel);
  ~Caller();

  // Calls until `stop` says so, which is asked often, then waits for what is open. Returns how many
  // calls never ended.
  uint64_t Run(const std::function<bool()>& stop);

  const CallHistory& history() const { return history_; }

 private:
  struct Slot {
    Call call;
    int64_t cancel_at_ns = 0;  // 0: never
    std::optional<grpc::ClientContext> context;
    grpc::Status status;
    inference::ModelInferResponse response;
    std::unique_ptr<grpc::ClientAsyncResponseReader<inference::ModelInferResponse>> reader;
  };

  void Send(Slot* slot);
  bool Draw(double percent);
  void CancelDue(int64_t now_ns);
  Slot* NextEnded();

  const CallerPlan plan_;
  const StallWatch stalls_;
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::mt19937_64 random_;
  CallHistory history_;
  uint64_t next_id_ = 1;
  uint64_t open_ = 0;
};

}  // namespace mpsd::crash
