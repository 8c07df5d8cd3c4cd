// FolderRemover: removes the folders of dead workers, on a thread of its own.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace mpsd {

// Limit of the entries that one call removes or moves.
inline constexpr int kMaxTreeSteps = 4'000'000;

// Removes the folder, whatever depth and modes a model's code gave it, and follows no links. Moves
// inner folders to the top first, so it needs two descriptors and a constant stack. After an error
// the rest stays. Blocks for at most `max_steps` steps. Thread-safe.
absl::Status RemoveTree(const std::string& folder, int max_steps = kMaxTreeSteps);

// The supervisor must not wait for gigabytes, nor for a dying worker that still writes. Owned by
// the LocalWorkerHost. Thread-safe.
class FolderRemover {
 public:
  // Removes a folder and its contents; after an error some may be left.
  using RemoveAll = std::function<absl::Status(const std::string&)>;
  // On the remover's thread, for a folder that stays.
  using GivenUp = std::function<void(const std::string& folder, const absl::Status& why)>;

  // kTries times `try_every` is twice as long as a worker outlives a killed front end.
  explicit FolderRemover(
      GivenUp given_up,
      RemoveAll remove_all = [](const std::string& folder) { return RemoveTree(folder); },
      absl::Duration try_every = absl::Milliseconds(50))
      : given_up_(std::move(given_up)), remove_all_(std::move(remove_all)), try_every_(try_every) {}

  // Blocks until all folders are gone or given up.
  ~FolderRemover();

  // Called once, before the first Remove(): a worker's death must not depend on a thread that the
  // host cannot give.
  void Start();

  // Removes the folder later, in up to kTries tries. REQUIRES: Start() was called.
  void Remove(std::string folder);

  static constexpr int kTries = 40;

 private:
  struct Task {
    std::string folder;
    int tries = 0;
  };

  void Main();
  bool IsDoneWith(Task* task);

  const GivenUp given_up_;
  const RemoveAll remove_all_;
  const absl::Duration try_every_;

  std::thread thread_;

  absl::Mutex mu_;
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mu_);
  bool done_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
