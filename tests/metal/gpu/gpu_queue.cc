#include "tests/metal/gpu/gpu_queue.h"

#include <utility>

namespace mpsd::standin {

GpuQueue::GpuQueue(Delays delays) : delays_(std::move(delays)), thread_([this] { RunAll(); }) {}

GpuQueue::~GpuQueue() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

bool GpuQueue::Commit(std::shared_ptr<CommandBuffer> buffer) {
  // The order of the queue is the order of the commits, so both are under the lock.
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!buffer->Commit()) return false;
  committed_.push_back(std::move(buffer));
  changed_.notify_all();
  return true;
}

std::shared_ptr<CommandBuffer> GpuQueue::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return is_ending_ || !committed_.empty(); });
  if (committed_.empty()) return nullptr;
  auto next = std::move(committed_.front());
  committed_.pop_front();
  return next;
}

void GpuQueue::RunAll() {
  while (const auto buffer = Next()) {
    std::this_thread::sleep_for(delays_.Next());
    buffer->Run();
  }
}

}  // namespace mpsd::standin
