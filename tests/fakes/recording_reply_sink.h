// RecordingReplySink: remembers how a request ended.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/request/reply.h"

namespace mpsd {

// Like a reply, it may be ended from any thread. Thread-safe in that sense; its contents may be
// read once endings() is not 0.
class RecordingReplySink final : public ReplySink {
 public:
  struct Output {
    std::string name;
    DataType datatype = DataType::kInvalid;
    Dims dims;
    std::string bytes;
  };

  // With `keep_memory` it holds a reference to the answer's memory until DropMemory(), like a
  // client that reads slowly.
  explicit RecordingReplySink(bool keep_memory = false) : keep_memory_(keep_memory) {}

  void Send(const Answer& answer) override {
    Keep(answer);
    endings_.fetch_add(1, std::memory_order_release);
  }

  // The test calls RowQueue::Continue() itself.
  void SendPart(const Answer& answer) override {
    outputs_.clear();
    views_.clear();
    Keep(answer);
    parts_.fetch_add(1, std::memory_order_release);
  }

  void End() override {
    ended_ = true;
    endings_.fetch_add(1, std::memory_order_release);
  }

  void Fail(const absl::Status& status) override {
    status_ = status;
    endings_.fetch_add(1, std::memory_order_release);
  }

  // How often the request was ended: once, if all is well.
  int endings() const { return endings_.load(std::memory_order_acquire); }

  // How many answers have arrived, of which outputs() has the last, and whether these are all.
  int parts() const { return parts_.load(std::memory_order_acquire); }
  bool ended() const { return ended_; }

  const absl::Status& status() const { return status_; }
  const std::vector<Output>& outputs() const { return outputs_; }

  // The address of an output's bytes; valid while the memory is kept.
  absl::string_view view(size_t output) const { return views_.at(output); }
  AnswerMemory* memory() const { return memory_; }
  void DropMemory() { std::exchange(memory_, nullptr)->Unref(); }

 private:
  void Keep(const Answer& answer) {
    for (const AnswerOutput& output : answer.outputs) {
      outputs_.push_back(
          {std::string(output.name), output.datatype, output.dims, std::string(output.bytes)});
      views_.push_back(output.bytes);
    }
    if (keep_memory_ && answer.memory != nullptr) {
      memory_ = answer.memory;
      memory_->Ref();
    }
  }

  const bool keep_memory_;
  std::atomic<int> endings_{0};
  std::atomic<int> parts_{0};
  bool ended_ = false;
  absl::Status status_;
  std::vector<Output> outputs_;
  std::vector<absl::string_view> views_;
  AnswerMemory* memory_ = nullptr;
};

}  // namespace mpsd
