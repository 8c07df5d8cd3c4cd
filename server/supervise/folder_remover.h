// FolderRemover: removes what dead workers leave behind, however much it is, while others go on.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// Thread-safe. Its thread starts with the first folder.
class FolderRemover {
 public:
  FolderRemover() = default;

  // Waits until all folders are gone.
  ~FolderRemover();

  // Removes the folder and all that is in it, later. Symbolic links are removed, not followed.
  void Remove(std::string folder);

 private:
  void Main();

  std::thread thread_;  // made once, under mu_

  absl::Mutex mu_;
  std::vector<std::string> folders_ ABSL_GUARDED_BY(mu_);
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
