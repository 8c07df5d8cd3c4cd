// Caller: keeps a number of calls open at a server until it is told to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "proto/inference.grpc.pb.h"
#include "tests/crash/call_history.h"
#include "tests/crash/call_source.h"
#include "tests/crash/stall_watch.h"

namespace mpsd::crash {

// Lives on one thread. A closed loop: each call that ends makes room for the next.
class Caller {
 public:
  Caller(const CallerPlan& plan, std::shared_ptr<grpc::Channel> channel);
  ~Caller();

  // Calls until `stop` says so, which is asked often, then waits for what is open. Returns the
  // history's report.
  std::string Run(const std::function<bool()>& stop);

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
  void CancelDue(int64_t now_ns);
  Slot* NextEnded();

  const CallerPlan plan_;
  const StallWatch stalls_;
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Slot>> slots_;
  CallSource source_;
  CallHistory history_;
  uint64_t open_ = 0;
};

}  // namespace mpsd::crash
