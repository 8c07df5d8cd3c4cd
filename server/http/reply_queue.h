// ReplyQueue: replies on their way to the thread that writes them.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <thread>
#include <utility>

namespace mpsd {

// Lives on its connection's thread, except its place in the queue.
class Replying {
 public:
  virtual ~Replying() = default;

  virtual void ReplyIsThere() = 0;

 private:
  friend class ReplyQueue;
  Replying* next_ = nullptr;
};

// Any thread pushes replies. The connections' thread takes all of them together, and is woken only
// from sleep.
//
//   Take …  →  FallAsleep → the sleep → WakeUp  →  Take …
//
// Owned by an HttpThread. Push() is thread-safe, the rest lives on that thread.
class ReplyQueue {
 public:
  // The thread sleeps in `io`, which outlives the queue.
  explicit ReplyQueue(boost::asio::io_context* io) : io_(io) {}

  // A taken request may be the last one: its thread ends while Push() still looks at it.
  ~ReplyQueue() {
    while (pushing_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
  }

  // The request may be gone afterwards. REQUIRES: it is not in the queue.
  void Push(Replying* replying) {
    pushing_.fetch_add(1, std::memory_order_relaxed);
    Replying* first = first_.load(std::memory_order_relaxed);
    do {
      replying->next_ = first;
    } while (!first_.compare_exchange_weak(first, replying, std::memory_order_seq_cst,
                                           std::memory_order_relaxed));
    if (first == nullptr && sleeps_.load(std::memory_order_seq_cst)) {
      boost::asio::post(*io_, [] {});
    }
    pushing_.fetch_sub(1, std::memory_order_release);
  }

  // Has each request take its reply, in order. Returns their number.
  size_t Take() {
    if (first_.load(std::memory_order_relaxed) == nullptr) return 0;
    size_t count = 0;
    Replying* in_order = nullptr;
    Replying* latest = first_.exchange(nullptr, std::memory_order_acquire);
    while (latest != nullptr) {
      Replying* const earlier = std::exchange(latest->next_, in_order);
      in_order = std::exchange(latest, earlier);
      ++count;
    }
    // A request may come again as soon as it has taken its reply.
    while (in_order != nullptr) {
      Replying* const next = std::exchange(in_order->next_, nullptr);
      std::exchange(in_order, next)->ReplyIsThere();
    }
    return count;
  }

  // False if replies have come meanwhile: then the thread must not sleep.
  bool FallAsleep() {
    sleeps_.store(true, std::memory_order_seq_cst);
    return first_.load(std::memory_order_seq_cst) == nullptr;
  }
  void WakeUp() { sleeps_.store(false, std::memory_order_relaxed); }

 private:
  boost::asio::io_context* const io_;
  std::atomic<Replying*> first_{nullptr};  // the latest
  std::atomic<bool> sleeps_{false};
  std::atomic<int> pushing_{0};  // threads in Push()
};

}  // namespace mpsd
