// StreamPool: which thread works on which stream of a device.
//
// patch_libtorch.py copies this file into libtorch, where the pool hands out the streams of mps
// (mps_stream_pool.h). So it includes the standard library alone and is C++17. The main thread has
// stream 0. Each other thread gets one of the others when it first asks, and keeps it until it
// ends; then the pool waits for the stream's work and gives it to the next thread that asks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace mpsd {

// What a pool asks of its device. The functions may throw, and may be called on any thread.
template <typename Stream>
struct StreamMaker {
  // Makes the stream of that index. Called under the pool's lock, once an index.
  std::function<std::unique_ptr<Stream>(int index)> make;
  // Blocks until the work that was queued on the stream is done. Called without a lock.
  std::function<void(Stream& stream)> wait;
  // Whether the calling thread is the process's first.
  std::function<bool()> on_main_thread;
};

// A process has one pool for each type of Stream. It outlives all threads that used it, so libtorch
// never destroys its own. Thread-safe.
//
// Invariants:
//   1. Current() gives a stream that no other thread has. Only MakeCurrent() shares one, which a
//      thread asks for by index; then the stream is free when the last of its threads has left.
//   2. A stream that a thread leaves is free only after a wait for its work.
//   3. A stream is made when it is first asked for, once, and lives as long as the pool.
template <typename Stream>
class StreamPool {
  // What the calling thread knows. Without a destructor, so that destructors of other thread-local
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

  // The calling thread's stream. Null where the thread has none and all are taken, and where it is
  // so near its end that it has given its stream back. Takes no lock but on a thread's first call.
  Stream* Current() {
    Place& place = MyPlace();
    if (place.stream == nullptr && !place.over) Settle(TakeFree());
    return place.stream;
  }

  // The index of the calling thread's stream; kNone where it has none, and then it gets none.
  int Held() const { return MyPlace().index; }

  // The stream of that index, whoever has it; null where there is no such index.
  Stream* At(int index) {
    if (index < 0 || index >= kStreams) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& stream = streams_[static_cast<size_t>(index)];
    if (stream == nullptr) stream = maker_.make(index);
    return stream.get();
  }

  // Makes that stream the calling thread's, beside the threads that have it already, and leaves the
  // one before. Waits for the work of the latter; where that wait throws, the thread has the new
  // stream, and the old one is never free again. False, with nothing changed, where there is no
  // such index, and near the thread's end.
  bool MakeCurrent(int index) {
    if (MyPlace().over || At(index) == nullptr) return false;
    const int before = MyPlace().index;
    if (before == index) return true;
    Join(index);
    Settle(index);
    if (before != kNone) Leave(before);
    return true;
  }

  // The index of a stream for MakeCurrent(): of those that no thread has, round and round; where
  // all are taken, of all but the main thread's. Reserves nothing.
  int Next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int i = 1; i < kStreams; ++i) {
      Advance();
      if (users_[static_cast<size_t>(next_)] == 0) return next_;
    }
    Advance();
    return next_;
  }

  // How many streams threads have at the moment. Takes no lock.
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

  // Makes `stream` the calling thread's for the life of this object, without a right to it: for a
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
  // Gives the stream back as the thread ends. A wait that throws leaves it taken for good.
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

  // Gives the calling thread the stream of `index`, of which it is a user already.
  void Settle(int index) {
    if (index == kNone) return;
    MyPlace() = Place{At(index), index, false};
    // The main thread's end is the process's: its stream goes to nobody.
    if (maker_.on_main_thread()) return;
    static thread_local Leaver leaver;
    leaver.pool = this;
  }

  // Makes the calling thread the user of a stream that nobody has, which is made; kNone where there
  // is none. The lowest index is taken, so that no more streams are made than threads need.
  int TakeFree() {
    if (maker_.on_main_thread()) {
      At(kMain);
      Join(kMain);
      return kMain;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int index = 1; index < kStreams; ++index) {
      const auto at = static_cast<size_t>(index);
      if (users_[at] > 0) continue;
      if (streams_[at] == nullptr) streams_[at] = maker_.make(index);
      AddUsers(at, 1);
      return index;
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
    if (users_[at] == 0) in_use_.fetch_sub(1, std::memory_order_relaxed);
  }

  void Advance() { next_ = next_ % (kStreams - 1) + 1; }

  const StreamMaker<Stream> maker_;
  mutable std::mutex mutex_;
  std::array<std::unique_ptr<Stream>, kStreams> streams_;  // guarded by mutex_
  std::array<int, kStreams> users_{};                      // guarded by mutex_
  int next_ = 0;                                           // guarded by mutex_
  std::atomic<int> in_use_{0};                             // of users_, those that are not 0
};

}  // namespace mpsd
