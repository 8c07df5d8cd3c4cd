// FakeWorkerProcess: a worker process that acts as a test says and records what is done to it.
#pragma once

#include <signal.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/supervise/process/worker_process.h"

namespace mpsd {

// The test's side of one process; the code under test gets a Handle(). An honest process exits when
// its control socket is closed, dies of SIGKILL, and is reaped at once. Thread-compatible. Outlives
// its handle, so that a test can ask it afterwards.
class FakeWorkerProcess {
 public:
  // `journal` gets "kill N", "reap N" of this process, whose number is N.
  FakeWorkerProcess(int number, uint64_t first_token, std::vector<std::string>* journal)
      : number_(number), first_token_(first_token), journal_(journal) {}

  // ---- the script ----
  void Say(Message message) { unread_.push_back({std::move(message), {}}); }
  void SayWith(Message message, UniqueFd descriptor) {
    Say(std::move(message));
    unread_.back().fds.push_back(std::move(descriptor));
  }
  void SayNonsense() { nonsense_ = true; }
  void HangUp() { hung_up_ = true; }
  void Write(absl::string_view bytes) { absl::StrAppend(&output_, bytes); }
  void Exit(int code) { wait_status_ = code << 8; }
  void DieOf(int signal) { wait_status_ = signal; }
  void Stop() { stopped_ = true; }
  void Continue() { stopped_ = false; }

  bool ignores_hang = false;  // stays although its control socket was closed
  bool ignores_kill = false;  // stays in the kernel although it was killed, until Reap(true)
  int reaped_late = 0;        // how often Reap(false) says -1 after the exit
  uint64_t resident_bytes = 0;
  absl::Status send_status;
  absl::Status flush_status;
  std::function<void()> on_kill;  // called when it is killed, before it dies

  // ---- what was done to it ----
  const std::vector<Message>& sent() const { return sent_; }
  size_t sent_descriptors() const { return sent_descriptors_; }
  int kills() const { return kills_; }
  int flushes() const { return flushes_; }
  bool hung() const { return hung_; }
  bool paused() const { return paused_; }
  bool reaped() const { return reaped_; }

  // The last message of this kind that was sent to it; null if none was.
  template <typename Kind>
  const Kind* LastSent() const {
    for (auto message = sent_.rbegin(); message != sent_.rend(); ++message) {
      if (const auto* kind = std::get_if<Kind>(&*message)) return kind;
    }
    return nullptr;
  }

  // The tokens that a poller would report now.
  std::vector<uint64_t> Tokens() const {
    std::vector<uint64_t> tokens;
    if (reaped_) return tokens;
    const bool says = !unread_.empty() || nonsense_ || hung_up_ || exited();
    if (says && !hung_) tokens.push_back(TokenOf(WorkerEvent::kControl));
    if (!output_.empty() && !paused_) tokens.push_back(TokenOf(WorkerEvent::kOutput));
    if (exited()) tokens.push_back(TokenOf(WorkerEvent::kExit));
    return tokens;
  }

  std::unique_ptr<WorkerProcess> MakeHandle() { return std::make_unique<Handle>(this); }

 private:
  class Handle final : public WorkerProcess {
   public:
    explicit Handle(FakeWorkerProcess* fake) : fake_(fake) {}
    ~Handle() override { MPSD_CHECK(fake_->reaped_); }

    pid_t pid() const override { return 1'000'000'000 + fake_->number_; }  // nobody's
    absl::Status Send(const Message& message, absl::Span<const int> fds) override {
      if (!fake_->send_status.ok()) return fake_->send_status;
      fake_->sent_.push_back(message);
      fake_->sent_descriptors_ += fds.size();
      return absl::OkStatus();
    }
    absl::Status Flush() override {
      ++fake_->flushes_;
      return fake_->flush_status;
    }
    absl::StatusOr<MessageReader::Received> Receive() override { return fake_->Receive(); }
    std::string ReadOutput() override { return fake_->ReadOutput(); }
    bool output_ended() const override { return fake_->exited() && fake_->output_.empty(); }
    void PauseOutput(bool paused) override { fake_->paused_ = paused; }
    void Hang() override {
      fake_->hung_ = true;
      if (!fake_->ignores_hang && !fake_->exited()) fake_->Exit(0);
    }
    bool Stopped() const override { return fake_->stopped_; }
    void Kill() override { fake_->Kill(); }
    int Reap(bool wait) override { return fake_->Reap(wait); }
    uint64_t ResidentBytes() const override { return fake_->resident_bytes; }

   private:
    FakeWorkerProcess* const fake_;
  };

  bool exited() const { return wait_status_ >= 0; }
  uint64_t TokenOf(WorkerEvent event) const { return first_token_ + static_cast<uint64_t>(event); }

  absl::StatusOr<MessageReader::Received> Receive() {
    if (!unread_.empty()) {
      MessageReader::Received received = std::move(unread_.front());
      unread_.pop_front();
      return received;
    }
    if (std::exchange(nonsense_, false)) return absl::InvalidArgumentError("it is no message");
    if (hung_up_ || exited() || hung_) return absl::UnavailableError("end of file");
    return absl::OutOfRangeError("no whole message yet");
  }

  std::string ReadOutput() {
    const std::string piece = output_.substr(0, 4096);
    output_.erase(0, piece.size());
    return piece;
  }

  void Kill() {
    MPSD_CHECK(!reaped_);
    journal_->push_back(absl::StrCat("kill ", number_));
    ++kills_;
    if (on_kill) on_kill();
    if (!ignores_kill && !exited()) DieOf(SIGKILL);
  }

  int Reap(bool wait) {
    MPSD_CHECK(!reaped_);
    if (wait && !exited()) DieOf(SIGKILL);
    if (!exited() || (!wait && reaped_late-- > 0)) return -1;
    journal_->push_back(absl::StrCat("reap ", number_));
    reaped_ = true;
    return wait_status_;
  }

  const int number_;
  const uint64_t first_token_;
  std::vector<std::string>* const journal_;
  std::deque<MessageReader::Received> unread_;
  std::string output_;
  std::vector<Message> sent_;
  size_t sent_descriptors_ = 0;
  int wait_status_ = -1;
  int kills_ = 0;
  int flushes_ = 0;
  bool nonsense_ = false;
  bool hung_up_ = false;  // the worker closed its side
  bool hung_ = false;     // the supervisor closed its side
  bool paused_ = false;
  bool stopped_ = false;
  bool reaped_ = false;
};

}  // namespace mpsd
