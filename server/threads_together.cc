#include "server/threads_together.h"

#include <thread>
#include <vector>

namespace mpsd {

ThreadsTogether RunTogether(size_t count,
                            absl::FunctionRef<void(const absl::Notification& all_started)> body) {
  absl::Notification all_started;
  std::vector<std::thread> threads;
  threads.reserve(count);
  ThreadsTogether together;
  try {
    while (threads.size() < count) {
      threads.emplace_back([&all_started, body] { body(all_started); });
    }
  } catch (const std::system_error& error) {
    together.refusal = error.code();
  }
  together.count = threads.size();
  all_started.Notify();
  for (std::thread& thread : threads) thread.join();
  return together;
}

}  // namespace mpsd
