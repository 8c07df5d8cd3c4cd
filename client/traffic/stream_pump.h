// StreamPump: one client thread's requests over bidirectional streams.
//
// A stream's tags (at most one read and one write at a time):
//
//   started ─▶ write, write, …    after the window's end: writes done
//           ─▶ read, read, …      until the server ends, or the run's patience
//   over, neither reading nor writing ─▶ finished: open requests count as failed
//
// An answer without a request ends its stream. gRPC holds a write back if another follows at once,
// and sends both together.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "client/traffic/answer_tally.h"
#include "client/traffic/load_run.h"
#include "client/traffic/pump.h"
#include "client/traffic/request_picker.h"
#include "client/traffic/request_set.h"

namespace mpsd::traffic {

// A closed loop: each answer sends the stream's next request, so the server must answer in order.
// The plan and the requests outlive the pump. Lives on the thread that calls Run().
class StreamPump final : public Pump {
 public:
  StreamPump(const LoadPlan& plan, const std::vector<PreparedRequest>& requests, uint64_t seed);
  ~StreamPump() override;

  // The stream has `depth` requests open.
  void AddStream(const std::shared_ptr<grpc::Channel>& channel, uint32_t depth);

  void Run(const Window& window) override;
  const LoadCounts& counts() const override { return tally_.counts(); }

 private:
  // Events of the completion queue.
  enum class Step { kStarted, kRead, kWritten, kFinished };
  struct Stream;

  struct Tag {
    Stream* stream = nullptr;
    Step step = Step::kStarted;
  };

  // A request that has no answer yet.
  struct Sent {
    uint32_t request = 0;
    int64_t at_ns = 0;
  };

  struct Stream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
    grpc::ByteBuffer answer;
    grpc::Status status;
    std::deque<Sent> open;  // oldest first
    uint32_t due = 0;       // requests to send now
    bool reading = false;
    bool writing = false;
    bool held_back = false;  // the last write waits for another one
    bool sends = true;
    bool over = false;  // nothing more can be sent or read
    Tag started{this, Step::kStarted};
    Tag read{this, Step::kRead};
    Tag written{this, Step::kWritten};
    Tag finished{this, Step::kFinished};
  };

  // Starts what follows: the next write, the next read, the end.
  void Take(const Window& window, const Tag& tag, bool ok);
  void Answered(const Window& window, Stream* stream);
  void SendNext(const Window& window, Stream* stream);
  void FinishIfOver(Stream* stream);
  void Finished(const Window& window, Stream* stream);
  void CancelAll();

  const LoadPlan& plan_;
  const ShownToken token_;
  const std::vector<PreparedRequest>& requests_;
  RequestPicker picker_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Stream>> streams_;
  uint32_t tags_out_ = 0;  // tags that gRPC still owes; the run is over at 0
  AnswerTally tally_;
};

}  // namespace mpsd::traffic
