// PrivateFolder: a temporary folder that this user alone can enter, short enough for a socket.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mpsd::tune {

// The folder and all that lies in it, until the destructor removes them. Movable.
// Thread-compatible.
class PrivateFolder {
 public:
  // Makes the folder, of mode 0700, where temporary files belong; below /tmp where the path of that
  // leaves no room for the name of a socket. Errors carry the system's reason.
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
