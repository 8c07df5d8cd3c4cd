// OneThread: an object that only one thread may use at a time.
#pragma once

#include <atomic>
#include <thread>

#include "tests/metal/rules/rule.h"

namespace mpsd::standin {

inline constexpr Rule kTwoThreads{
    "two-threads", "a command buffer, an encoder, a graph or a kernel takes one thread at a time"};

// Part of each such object. The object's calls hold a Turn while they run. Thread-safe.
class OneThread {
 public:
  // `what` names the kind of object, and outlives this object.
  explicit OneThread(const char* what) : what_(what) {}
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  // One call on the object. A call may make further calls on the same thread. If another thread is
  // in a call, the rule is broken. Lives on one thread.
  class Turn {
   public:
    explicit Turn(OneThread& object) : object_(object) { is_ours_ = object_.Enter(); }
    ~Turn() {
      if (is_ours_) object_.Leave();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    OneThread& object_;
    bool is_ours_ = false;
  };

 private:
  bool Enter();
  void Leave();

  const char* const what_;
  std::atomic<std::thread::id> thread_{};
  int depth_ = 0;  // owned by the thread that is inside
};

}  // namespace mpsd::standin
