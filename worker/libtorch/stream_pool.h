// StreamPool: which thread works on which stream of a device.
//
// patch_libtorch.py copies this file into libtorch: C++17 and the standard library alone. The main
// thread has stream 0. Each other thread gets a stream when it first asks, until the thread ends.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace mpsd {

// The device's functions. They may throw, and may be called on any thread.
template <typename Stream>
struct StreamMaker {
  // Called under the pool's lock, once for each index.
  std::function<std::unique_ptr<Stream>(int index)> make;
  // Blocks until the stream's queued work is done. Called without a lock.
  std::function<void(Stream& stream)> wait;
  std::function<bool()> on_main_thread;
  // How long Current() waits where all streams are taken. Negative: without an end.
  std::chrono::milliseconds patience{0};
};

// One for each type of Stream in a process; outlives all threads that used it. Thread-safe.
//
// Invariants:
//   1. Current() gives a stream that no other thread has. Only MakeCurrent() makes threads share a
//      stream; it is free when the last of them has left.
//   2. A stream that a thread leaves is free only after a wait for its work.
//   3. A stream is made when first asked for, and lives as long as the pool.
template <typename Stream>
class StreamPool {
  // Has no destructor: destructors of other thread-local objects may still ask.
  struct Place {
    Stream* stream = nullptr;
    int index = -1;     // kNone
    bool over = false;  // the thread gave its stream back, and gets no other
  };

 public:
  static constexpr int kStreams = 32;
  static constexpr int kMain = 0;
  static constexpr int kNone = -1;

  explicit StreamPool(StreamMaker<Stream> maker) : maker_(std::move(maker)) {}
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  // Null if all streams stay taken, or if the ending thread has given its stream back. Takes a lock
  // only on a thread's first call.
  Stream* Current() {
    Place& place = MyPlace();
    if (place.stream == nullptr && !place.over) Settle(TakeFree());
    return place.stream;
  }

  // kNone if the calling thread has none. Assigns none.
  int Held() const { return MyPlace().index; }

  // Null if there is no such index.
  Stream* At(int index) {
    if (index < 0 || index >= kStreams) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& stream = streams_[static_cast<size_t>(index)];
    if (stream == nullptr) stream = maker_.make(index);
    return stream.get();
  }

  // Makes that stream the calling thread's, then waits for the previous stream's work. If that wait
  // throws, the old stream is never free again. False, with nothing changed: there is no such
  // index, or the ending thread has given its stream back.
  bool MakeCurrent(int index) {
    if (MyPlace().over || At(index) == nullptr) return false;
    const int before = MyPlace().index;
    if (before == index) return true;
    Join(index);
    Settle(index);
    if (before != kNone) Leave(before);
    return true;
  }

  // A free stream, in turn, or else any but the main thread's. Reserves nothing.
  int Next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int i = 1; i < kStreams; ++i) {
      Advance();
      if (users_[static_cast<size_t>(next_)] == 0) return next_;
    }
    Advance();
    return next_;
  }

  // Takes no lock.
  int InUse() const { return in_use_.load(std::memory_order_relaxed); }

  // Free ones too.
  std::vector<Stream*> Made() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Stream*> made;
    for (const auto& stream : streams_) {
      if (stream != nullptr) made.push_back(stream.get());
    }
    return made;
  }

  // Makes `stream` the calling thread's for the life of this object: for another thread's work. The
  // lender keeps its stream. Lives on one thread, which calls no MakeCurrent() meanwhile.
  class Loan {
   public:
    Loan(Stream* stream, int index)
        : before_(std::exchange(MyPlace(), Place{stream, index, false})) {}
    ~Loan() { MyPlace() = before_; }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    const Place before_;
  };

 private:
  // If the wait throws, the stream stays taken for good.
  struct Leaver {
    StreamPool* pool = nullptr;
    ~Leaver() {
      const int index = std::exchange(MyPlace(), Place{nullptr, kNone, true}).index;
      if (pool == nullptr || index == kNone) return;
      try {
        pool->Leave(index);
      } catch (...) {
      }
    }
  };

  static Place& MyPlace() {
    static thread_local Place place;
    return place;
  }

  // REQUIRES: the calling thread is counted as the stream's user.
  void Settle(int index) {
    if (index == kNone) return;
    MyPlace() = Place{At(index), index, false};
    // The main thread ends with the process.
    if (maker_.on_main_thread()) return;
    static thread_local Leaver leaver;
    leaver.pool = this;
  }

  // kNone if no stream is free in time.
  int TakeFree() {
    if (maker_.on_main_thread()) {
      At(kMain);
      Join(kMain);
      return kMain;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_one_free = [this] { return FreeIndex() != kNone; };
    if (maker_.patience.count() < 0) {
      freed_.wait(lock, is_one_free);
    } else if (!freed_.wait_for(lock, maker_.patience, is_one_free)) {
      return kNone;
    }
    const int index = FreeIndex();
    const auto at = static_cast<size_t>(index);
    if (streams_[at] == nullptr) streams_[at] = maker_.make(index);
    AddUsers(at, 1);
    return index;
  }

  // The lowest, so that few streams are made; kNone if all are taken. Called with the lock held.
  int FreeIndex() const {
    for (int index = 1; index < kStreams; ++index) {
      if (users_[static_cast<size_t>(index)] == 0) return index;
    }
    return kNone;
  }

  void Join(int index) {
    const std::lock_guard<std::mutex> lock(mutex_);
    AddUsers(static_cast<size_t>(index), 1);
  }

  void Leave(int index) {
    maker_.wait(*At(index));
    const std::lock_guard<std::mutex> lock(mutex_);
    AddUsers(static_cast<size_t>(index), -1);
  }

  // Called with the lock held.
  void AddUsers(size_t at, int more) {
    if (users_[at] == 0) in_use_.fetch_add(1, std::memory_order_relaxed);
    users_[at] += more;
    if (users_[at] > 0) return;
    in_use_.fetch_sub(1, std::memory_order_relaxed);
    freed_.notify_one();
  }

  void Advance() { next_ = next_ % (kStreams - 1) + 1; }

  const StreamMaker<Stream> maker_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::array<std::unique_ptr<Stream>, kStreams> streams_;  // guarded by mutex_
  std::array<int, kStreams> users_{};                      // guarded by mutex_
  int next_ = 0;                                           // guarded by mutex_
  std::atomic<int> in_use_{0};                             // how many of users_ are not 0
};

}  // namespace mpsd
