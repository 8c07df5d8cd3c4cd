// Stands for macOS's header of that name: a serial queue, whose blocks run on the thread that waits
// for them. Has the one function of macOS's <pthread.h> that others have not, too.
#pragma once

#include <map>
#include <mutex>
#include <thread>
#include <utility>

struct FakeQueue {
  std::mutex running;
  std::thread::id runner;  // where a block runs now
  std::map<const void*, void*> marks;
};
using dispatch_queue_t = FakeQueue*;

// The queue of the innermost block that the thread runs.
inline thread_local FakeQueue* fake_current_queue = nullptr;

inline void dispatch_sync_f(dispatch_queue_t queue, void* context, void (*work)(void*)) {
  const std::lock_guard<std::mutex> lock(queue->running);
  FakeQueue* const outer = std::exchange(fake_current_queue, queue);
  queue->runner = std::this_thread::get_id();
  work(context);
  queue->runner = {};
  fake_current_queue = outer;
}

inline void dispatch_queue_set_specific(dispatch_queue_t queue, const void* key, void* value,
                                        void (*)(void*)) {
  queue->marks[key] = value;
}

inline void* dispatch_get_specific(const void* key) {
  return fake_current_queue == nullptr ? nullptr : fake_current_queue->marks[key];
}

// 1 on the main thread, which a test says.
int pthread_main_np();
