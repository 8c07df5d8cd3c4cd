// BufferLife: the stages of a command buffer and of its encoders, and the calls that each allows.
#pragma once

#include <condition_variable>
#include <mutex>

#include "tests/metal/rules/rule.h"

namespace mpsd::standin {

inline constexpr Rule kEncodeAfterCommit{
    "encode-after-commit", "a committed command buffer takes no further commands or events"};
inline constexpr Rule kHandlerAfterCommit{
    "handler-after-commit", "handlers are added before the command buffer is committed"};
inline constexpr Rule kCommitTwice{"commit-twice", "a command buffer is committed once"};
inline constexpr Rule kCommitWithOpenEncoder{
    "commit-with-open-encoder",
    "the last encoder has ended before the command buffer is committed"};
inline constexpr Rule kSecondEncoder{
    "second-encoder",
    "a command buffer has one active encoder; it ends before anything else begins"};
inline constexpr Rule kEncodeAfterEnd{"encode-after-end",
                                      "an encoder takes no commands after endEncoding"};
inline constexpr Rule kEncoderNotEnded{"encoder-not-ended",
                                       "an encoder ends before it is released"};
inline constexpr Rule kWaitBeforeCommit{
    "wait-before-commit", "a wait for a command buffer that nobody commits never ends"};

// The stages in their order.
enum class BufferStage { kOpen, kCommitted, kCompleted };

// Part of one command buffer. Each Allows… call checks one rule and returns whether the caller may
// go on. Thread-safe, so that a broken rule breaks no more than a count.
class BufferLife {
 public:
  BufferStage stage() const;

  bool AllowsCommands(const char* call) const;
  bool AllowsHandler(const char* call) const;

  // Begins an encoder, or an event between encoders.
  bool BeginsEncoder(const char* call);
  bool AllowsEvent(const char* call) const;
  void EndsEncoder();

  // Open to committed. False if it was committed before.
  bool Commits();

  // Committed to completed. Called by the gpu.
  void Completes();

  // Blocks until the gpu has completed the buffer. Returns at once if nobody committed it.
  void WaitUntilCompleted() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable completed_;
  BufferStage stage_ = BufferStage::kOpen;  // guarded by mutex_
  bool has_open_encoder_ = false;           // guarded by mutex_
};

// Part of one encoder. Thread-compatible.
class EncoderLife {
 public:
  bool AllowsCommands(const char* call) const;
  // Open to ended. False if it had ended before.
  bool Ends();
  // The encoder's memory goes.
  void Released() const;

 private:
  bool has_ended_ = false;
};

}  // namespace mpsd::standin
