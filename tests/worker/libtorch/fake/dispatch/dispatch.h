// Stands for macOS's header of that name: a serial queue, whose blocks run on the thread that waits
// for them. Has the one function of macOS's <pthread.h> that others have not, too.
#pragma once

#include <mutex>
#include <thread>

struct FakeQueue {
  std::mutex running;
  std::thread::id runner;  // where a block runs now
};
using dispatch_queue_t = FakeQueue*;

inline void dispatch_sync_f(dispatch_queue_t queue, void* context, void (*work)(void*)) {
  const std::lock_guard<std::mutex> lock(queue->running);
  queue->runner = std::this_thread::get_id();
  work(context);
  queue->runner = {};
}

// 1 on the main thread, which a test says.
int pthread_main_np();
