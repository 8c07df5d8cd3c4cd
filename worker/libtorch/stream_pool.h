// StreamPool: which thread works on which stream of a device.
//
// patch_libtorch.py copies this file into libtorch (mps_stream_pool.h). So it includes only the
// standard library and is C++17. The main thread has stream 0. Each other thread gets another
// stream when it first asks, and keeps it until the thread ends. Then the pool waits for the
// stream's work and gives it to the next thread that asks.
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

// The functions that a pool needs from its device. They may throw, and may be called on any thread.
template <typename Stream>
struct StreamMaker {
  // Makes the stream of that index. Called under the pool's lock, once for each index.
  std::function<std::unique_ptr<Stream>(int index)> make;
  // Blocks until the work that was queued on the stream is done. Called without a lock.
  std::function<void(Stream& stream)> wait;
  // Whether the calling thread is the process's first.
  std::function<bool()> on_main_thread;
  // How long Current() waits where all streams are taken. Negative: without an end.
  std::chrono::milliseconds patience{0};
};

// A process has one pool for each type of Stream. The pool outlives all threads that used it, so
// libtorch never destroys its own. Thread-safe.
//
// Invariants:
//   1. Current() gives a stream that no other thread has. Only MakeCurrent(), which takes an index,
//      makes threads share a stream; it is free when the last of them has left.
//   2. A stream that a thread leaves is free only after a wait for its work.
//   3. A stream is made once, when it is first asked for, and lives as long as the pool.
template <typename Stream>
class StreamPool {
  // The calling thread's state. It has no destructor, so that destructors of other thread-local
  // objects may still ask.
  struct Place {
    Stream* stream = nullptr;
    int index = -1;     // kNone
    bool over = false;  // the thread has given its stream back, and gets no other
  };

 public:
  static constexpr int kStreams = 32;
  static constexpr int kMain = 0;
  static constexpr int kNone = -1;

  explicit StreamPool(StreamMaker<Stream> maker) : maker_(std::move(maker)) {}
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  // The calling thread's stream. Null if it has none and all are taken for as long as the pool is
  // patient, or if the ending thread has already given its stream back. Takes a lock only on a
  // thread's first call.
  Stream* Current() {
    Place& place = MyPlace();
    if (place.stream == nullptr && !place.over) Settle(TakeFree());
    return place.stream;
  }

  // The index of the calling thread's stream; kNone if it has none. Assigns none.
  int Held() const { return MyPlace().index; }

  // The stream of that index, whichever thread has it; null if there is no such index.
  Stream* At(int index) {
    if (index < 0 || index >= kStreams) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& stream = streams_[static_cast<size_t>(index)];
    if (stream == nullptr) stream = maker_.make(index);
    return stream.get();
  }

  // Makes that stream the calling thread's, shared with any threads that already have it. Then
  // leaves the previous stream and waits for its work. If that wait throws, the thread has the new
  // stream, and the old one is never free again. False, with nothing changed: there is no such
  // index, or the thread has already given its stream back at its end.
  bool MakeCurrent(int index) {
    if (MyPlace().over || At(index) == nullptr) return false;
    const int before = MyPlace().index;
    if (before == index) return true;
    Join(index);
    Settle(index);
    if (before != kNone) Leave(before);
    return true;
  }

  // The index of a stream for MakeCurrent(): one that no thread has, in turn. If all are taken, the
  // next of all streams except the main thread's. Reserves nothing.
  int Next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int i = 1; i < kStreams; ++i) {
      Advance();
      if (users_[static_cast<size_t>(next_)] == 0) return next_;
    }
    Advance();
    return next_;
  }

  // How many streams currently belong to threads. Takes no lock.
  int InUse() const { return in_use_.load(std::memory_order_relaxed); }

  // The streams that were made so far, free ones too.
  std::vector<Stream*> Made() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Stream*> made;
    for (const auto& stream : streams_) {
      if (stream != nullptr) made.push_back(stream.get());
    }
    return made;
  }

  // Makes `stream` the calling thread's for the life of this object, without a claim to it: for a
  // piece of a thread's work that another thread may run. The lender keeps its stream meanwhile.
  // Lives on one thread, which calls no MakeCurrent() meanwhile.
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
  // Gives the stream back as the thread ends. If the wait throws, the stream stays taken for good.
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

  // Gives the calling thread the stream of `index`. The thread is already counted as its user.
  void Settle(int index) {
    if (index == kNone) return;
    MyPlace() = Place{At(index), index, false};
    // The main thread ends with the process, so its stream is not given back.
    if (maker_.on_main_thread()) return;
    static thread_local Leaver leaver;
    leaver.pool = this;
  }

  // Makes the calling thread the user of a free stream; kNone if there is none in time. A stream is
  // made if it does not exist yet.
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

  // The lowest index that no thread has, so that no more streams are made than threads need; kNone
  // if all are taken. Called with the lock held.
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
