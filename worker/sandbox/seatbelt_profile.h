// SeatbeltProfile: what a confined worker may do on macOS, in Seatbelt's own language.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd {

// The real paths that a worker keeps, because the sandbox resolves links before it compares. Each
// stands for a file, or a folder with all that is in it.
struct SeatbeltPaths {
  std::vector<std::string> readable;  // the model, and CodePaths()
  std::vector<std::string> writable;  // the temporary folder, and the device's cache
};

// Paths of its own code that a process reads while it runs. These are the loaded files, by their
// real paths, and the folder of libtorch, which opens other files there. The loaded files' other
// folders are not included, because a program may lie in somebody's home. For the same reason
// libtorch's folder is left out if it is a folder such as /Users/NAME, or above one. Pure.
std::vector<std::string> CodePaths(const std::vector<std::string>& images);

// The text that sandbox_init() takes: parenthesized rules, where the last match decides. The first
// rule allows everything and later ones take away. A list of what a gpu's driver may do would break
// with each release of macOS.
//
//   Files      Written only below `writable` and to the harmless devices. In the users' folders,
//              other volumes and /private/var/root, read only below `readable` and `writable`.
//   Processes  No program, no process of its own, no signals and no look at others.
//   Networks   No socket except those that are open already.
//
// Pure; compiled on every platform, so that tests on any platform read it. INVALID_ARGUMENT names a
// path that is not absolute, or has a control character.
absl::StatusOr<std::string> SeatbeltProfile(const SeatbeltPaths& paths);

}  // namespace mpsd
