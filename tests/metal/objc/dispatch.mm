// libdispatch: serial queues whose blocks run on the calling thread.
#include <Block.h>
#include <dispatch/dispatch.h>
#include <dlfcn.h>

#include <mutex>
#include <thread>

#include "tests/metal/objc/foundation.h"
#include "tests/metal/rules/serial_queue.h"

using mpsd::standin::SerialQueue;

struct dispatch_queue_s {
  SerialQueue queue;
};

extern "C" {

dispatch_queue_t dispatch_queue_create(const char* label, void* attributes) {
  return new dispatch_queue_s;
}

dispatch_queue_t dispatch_get_main_queue(void) {
  static auto* const queue = new dispatch_queue_s;
  return queue;
}

void dispatch_release(void* object) { delete static_cast<dispatch_queue_s*>(object); }

void dispatch_queue_set_specific(dispatch_queue_t queue, const void* key, void* value,
                                 dispatch_function_t destructor) {
  queue->queue.Mark(key, value);
}

void* dispatch_get_specific(const void* key) { return SerialQueue::MarkHere(key); }

void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  queue->queue.RunAndWait([=] { work(context); });
}

void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  std::thread([=] { queue->queue.RunAndWait([=] { work(context); }); }).detach();
}

// Data is only handed to a library of shaders, of which there is none.
dispatch_data_t dispatch_data_create(const void* bytes, size_t length, dispatch_queue_t queue,
                                     void* destructor) {
  return nullptr;
}

void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block) {
  queue->queue.RunAndWait([block] { block(); });
}

void dispatch_async(dispatch_queue_t queue, dispatch_block_t block) {
  dispatch_block_t const copy = (dispatch_block_t)_Block_copy(block);
  std::thread([=] {
    queue->queue.RunAndWait([copy] { copy(); });
    _Block_release(copy);
  }).detach();
}

void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block) {
  static auto* const mutex = new std::recursive_mutex;
  const std::lock_guard<std::recursive_mutex> lock(*mutex);
  if (*predicate != 0) return;
  block();
  *predicate = 1;
}

// A block that is copied keeps the objects that it names. The packaged runtime of blocks knows
// nothing of objects, and leaves this function to be replaced.
void _Block_object_assign(void* target, const void* object, const int flags) {
  constexpr int kIsObject = 3;
  if (flags == kIsObject) {
    *static_cast<void**>(target) = [(id)object retain];
    return;
  }
  using Assign = void (*)(void*, const void*, const int);
  static const auto next = reinterpret_cast<Assign>(dlsym(RTLD_NEXT, "_Block_object_assign"));
  next(target, object, flags);
}

void _Block_object_dispose(const void* object, const int flags) {
  constexpr int kIsObject = 3;
  if (flags == kIsObject) {
    [(id)object release];
    return;
  }
  using Dispose = void (*)(const void*, const int);
  static const auto next = reinterpret_cast<Dispose>(dlsym(RTLD_NEXT, "_Block_object_dispose"));
  next(object, flags);
}
}
