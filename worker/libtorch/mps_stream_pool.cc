#include "worker/libtorch/mps_stream_pool.h"

#include <dispatch/dispatch.h>
#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "ATen/mps/MPSStream.h"
#include "c10/util/Exception.h"

namespace at::mps {
namespace {

// Its address marks the queues of streams.
const char queue_of_stream = 0;

std::unique_ptr<MPSStream> MakeStream(int index) {
  auto stream = std::make_unique<MPSStream>(
      c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::MPS, 0), index));
  dispatch_queue_set_specific(stream->queue(), &queue_of_stream, stream.get(), nullptr);
  return stream;
}

bool InQueueOfStream() { return dispatch_get_specific(&queue_of_stream) != nullptr; }

// A wait inside a queue. No exception may pass through the queue.
struct Wait {
  MPSStream* stream;
  std::exception_ptr error;

  static void Run(void* context) {
    auto* wait = static_cast<Wait*>(context);
    try {
      wait->stream->synchronize(SyncType::COMMIT_AND_WAIT);
    } catch (...) {
      wait->error = std::current_exception();
    }
  }
};

// Waits in the queue, so that no other thread is in the middle of an operator on the stream.
void WaitFor(MPSStream& stream) {
  Wait wait{&stream, nullptr};
  dispatch_sync_f(stream.queue(), &wait, &Wait::Run);
  if (wait.error != nullptr) std::rethrow_exception(wait.error);
}

bool OnMainThread() { return pthread_main_np() != 0; }

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool ForceGraphs() {
  const std::string force = Environment("MPS_FORCE_GRAPH_PATH");
  return !force.empty() && force[0] != '0';
}

std::chrono::milliseconds Patience() {
  return std::chrono::milliseconds(
      std::strtol(Environment("MPS_STREAM_WAIT_MS").c_str(), nullptr, 10));
}

}  // namespace

MPSStreamPool::MPSStreamPool()
    : pool_({&MakeStream, &WaitFor, &OnMainThread, Patience()}), force_graphs_(ForceGraphs()) {}

MPSStreamPool& MPSStreamPool::instance() {
  // Never destroyed: threads that outlive the main thread still give their streams back.
  static MPSStreamPool* const pool = new MPSStreamPool();
  return *pool;
}

MPSStream* MPSStreamPool::current() {
  MPSStream* stream = pool_.Current();
  TORCH_CHECK(stream != nullptr, "the ", pool_.kStreams - 1,
              " streams of mps are taken by other threads, which give them back as they end");
  return stream;
}

c10::StreamId MPSStreamPool::held() const { return pool_.Held(); }

MPSStream* MPSStreamPool::heldOrMain() {
  const int index = pool_.Held();
  return pool_.At(index == pool_.kNone ? pool_.kMain : index);
}

MPSStream* MPSStreamPool::stream(c10::StreamId index) {
  const bool there = index >= 0 && index < pool_.kStreams;
  TORCH_CHECK(there, "mps has no stream ", index);
  return pool_.At(static_cast<int>(index));
}

c10::StreamId MPSStreamPool::exchange(c10::StreamId index) {
  stream(index);
  const c10::StreamId before = held();
  TORCH_CHECK(pool_.MakeCurrent(static_cast<int>(index)),
              "a thread that ends takes no stream of mps");
  return before == pool_.kNone ? index : before;
}

c10::StreamId MPSStreamPool::next() { return pool_.Next(); }

bool MPSStreamPool::prefersGraphs() const { return force_graphs_ || pool_.InUse() > 1; }

bool MPSStreamPool::commitsAndContinues(c10::StreamId index) {
  static const std::string which = Environment("MPS_COMMIT_AND_CONTINUE");
  return which != "none" && (which != "main" || index == mpsd::StreamPool<MPSStream>::kMain);
}

void MPSStreamPool::wait(MPSStream* stream) { WaitFor(*stream); }

void MPSStreamPool::waitForAll() {
  for (MPSStream* stream : pool_.Made()) WaitFor(*stream);
}

void MPSStreamPool::waitForMemory() {
  if (!InQueueOfStream()) waitForAll();
}

bool MPSStreamPool::isInQueueOf(const MPSStream* stream) {
  return dispatch_get_specific(&queue_of_stream) == stream;
}

MPSStreamScope::MPSStreamScope(MPSStream* stream)
    : loan_(stream, static_cast<int>(stream->unwrap().id())) {}

MPSStreamScope::~MPSStreamScope() = default;

}  // namespace at::mps
