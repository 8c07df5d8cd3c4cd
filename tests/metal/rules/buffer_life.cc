#include "tests/metal/rules/buffer_life.h"

namespace mpsd::standin {

BufferStage BufferLife::stage() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stage_;
}

bool BufferLife::AllowsCommands(const char* call) const {
  const bool is_open = stage() == BufferStage::kOpen;
  if (!is_open) Broken(kEncodeAfterCommit, call);
  return is_open;
}

bool BufferLife::AllowsHandler(const char* call) const {
  const bool is_open = stage() == BufferStage::kOpen;
  if (!is_open) Broken(kHandlerAfterCommit, call);
  return is_open;
}

bool BufferLife::BeginsEncoder(const char* call) {
  const bool is_allowed = AllowsEvent(call);
  const std::lock_guard<std::mutex> lock(mutex_);
  has_open_encoder_ = true;
  return is_allowed;
}

bool BufferLife::AllowsEvent(const char* call) const {
  if (!AllowsCommands(call)) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_open_encoder_) Broken(kSecondEncoder, call);
  return !has_open_encoder_;
}

void BufferLife::EndsEncoder() {
  const std::lock_guard<std::mutex> lock(mutex_);
  has_open_encoder_ = false;
}

bool BufferLife::Commits() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stage_ != BufferStage::kOpen) {
    Broken(kCommitTwice, "commit");
    return false;
  }
  if (has_open_encoder_) Broken(kCommitWithOpenEncoder, "commit");
  stage_ = BufferStage::kCommitted;
  return true;
}

void BufferLife::Completes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stage_ = BufferStage::kCompleted;
  completed_.notify_all();
}

void BufferLife::WaitUntilCompleted() const {
  std::unique_lock<std::mutex> lock(mutex_);
  if (stage_ == BufferStage::kOpen) {
    Broken(kWaitBeforeCommit, "waitUntilCompleted");
    return;
  }
  completed_.wait(lock, [this] { return stage_ == BufferStage::kCompleted; });
}

bool EncoderLife::AllowsCommands(const char* call) const {
  if (has_ended_) Broken(kEncodeAfterEnd, call);
  return !has_ended_;
}

bool EncoderLife::Ends() {
  if (!AllowsCommands("endEncoding")) return false;
  has_ended_ = true;
  return true;
}

void EncoderLife::Released() const {
  if (!has_ended_) Broken(kEncoderNotEnded, "release");
}

}  // namespace mpsd::standin
