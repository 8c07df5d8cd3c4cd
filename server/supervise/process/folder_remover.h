// FolderRemover: removes the folders of dead workers on a thread of its own.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace mpsd {

// A folder may hold gigabytes, and a dying worker may still write to it: neither may hold up the
// supervisor. Owned by the LocalWorkerHost. Thread-safe. Its thread starts with the first folder.
class FolderRemover {
 public:
  // Removes a folder and all that is in it; false when some of it is still there.
  using RemoveAll = std::function<bool(const std::string&)>;

  // kTries times `try_every` is twice as long as a worker outlives a front end that was killed.
  explicit FolderRemover(RemoveAll remove_all = RemoveTree,
                         absl::Duration try_every = absl::Milliseconds(50))
      : remove_all_(std::move(remove_all)), try_every_(try_every) {}

  // Blocks until all folders are gone or given up.
  ~FolderRemover();

  // Removes the folder and all that is in it, later. Symbolic links are removed, not followed. When
  // something is left, since descriptors are short or a process still writes there, the thread
  // tries again, kTries times in all.
  void Remove(std::string folder);

  static constexpr int kTries = 40;

 private:
  struct Task {
    std::string folder;
    int tries = 0;
  };

  static bool RemoveTree(const std::string& folder);
  void Main();

  const RemoveAll remove_all_;
  const absl::Duration try_every_;

  std::thread thread_;  // made once, under mu_

  absl::Mutex mu_;
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mu_);
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
