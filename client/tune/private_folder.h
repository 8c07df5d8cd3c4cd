// PrivateFolder: a temporary folder that this user alone can enter, short enough for a socket.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mpsd::tune {

// The destructor removes the folder and its contents. Movable. Thread-compatible.
class PrivateFolder {
 public:
  // Has mode 0700 and lies among temporary files, or in /tmp if that path leaves no room for a
  // socket's name. Errors carry the system's reason.
  static absl::StatusOr<PrivateFolder> Make();

  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path);

  std::string path_;  // empty: moved from
};

}  // namespace mpsd::tune
