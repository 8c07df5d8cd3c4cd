// SerialQueue: a queue of libdispatch, which runs one block at a time.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include "tests/metal/rules/rule.h"

namespace mpsd::standin {

inline constexpr Rule kWaitInOwnQueue{
    "wait-in-own-queue", "a block must not wait for a block of the serial queue that it runs in"};
inline constexpr Rule kExceptionInQueue{
    "exception-in-queue", "an exception that leaves a block of a queue ends the process"};

// Blocks run on the calling thread, as libdispatch does where it can, or each on a thread of its
// own, as libdispatch may. A real wait inside the own queue never ends; here the rule is broken and
// the inner block runs. Thread-safe.
class SerialQueue {
 public:
  // Where blocks run: on threads of their own if the environment has MPSD_STANDIN_BLOCK_THREADS.
  SerialQueue();
  explicit SerialQueue(bool has_block_threads) : has_block_threads_(has_block_threads) {}

  // Runs `block` after those that other threads run. An exception of `block` breaks a rule, and
  // reaches the caller, unlike a real one.
  void RunAndWait(const std::function<void()>& block);

  // Whether the calling thread is in a block of this queue.
  bool IsInside() const;

  // Marks the queue with a value, which blocks of the queue find. For the queue's maker, before any
  // block runs.
  void Mark(const void* key, void* value) { marks_[key] = value; }

  // The mark of the queue whose block the calling thread runs, of the innermost one; null if there
  // is none.
  static void* MarkHere(const void* key);

 private:
  void RunInside(const std::function<void()>& block);

  const bool has_block_threads_;
  std::mutex mutex_;  // held while a block runs
  std::map<const void*, void*> marks_;
};

}  // namespace mpsd::standin
