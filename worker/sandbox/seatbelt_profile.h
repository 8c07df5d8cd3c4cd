// SeatbeltProfile: what a confined worker may do on macOS, in that system's own language.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd {

// The paths that a worker keeps, real ones: the sandbox compares what a path leads to. Each stands
// for a file, or a folder with all that is in it.
struct SeatbeltPaths {
  std::vector<std::string> readable;  // the model, and CodePaths()
  std::vector<std::string> writable;  // the temporary folder, and the device's cache
};

// What a process reads of its own code while it runs: the files that are loaded into it, by their
// real paths, and the folder of libtorch, which opens others there. Not their other folders: a
// program may lie in somebody's home. For the same reason libtorch's folder is left out where it is
// one, such as /Users/NAME, or above one. Pure.
std::vector<std::string> CodePaths(const std::vector<std::string>& images);

// The text that sandbox_init() takes: parenthesized rules, of which the last that fits decides. It
// begins with everything and takes away, since a list of what a gpu's driver may do would break
// with each release of macOS:
//
//   files      written below `writable` and to the harmless devices alone; of the users' folders,
//              other volumes and /private/var/root, read below `readable` and `writable` alone
//   processes  no program, no process of its own, no signals and no look at others
//   networks   no socket but those that are open already
//
// Pure; in a file that every platform compiles, so that tests on any of them read it.
// INVALID_ARGUMENT names a path that is not absolute, or has a control character.
absl::StatusOr<std::string> SeatbeltProfile(const SeatbeltPaths& paths);

}  // namespace mpsd
