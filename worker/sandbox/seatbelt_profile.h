// SeatbeltProfile: what a confined worker may do on macOS, in Seatbelt's language.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd {

// Real paths of files, or of folders with all in them: the sandbox resolves links first.
struct SeatbeltPaths {
  std::vector<std::string> readable;  // the model, and CodePaths()
  std::vector<std::string> writable;  // the temporary folder, and the device's cache
};

// The loaded files, and libtorch's folder, in which libtorch opens others. Other folders are left
// out, because a program may lie in somebody's home. So is libtorch's, if it is a folder such as
// /Users/NAME, or above one. Pure.
std::vector<std::string> CodePaths(const std::vector<std::string>& images);

// Text for sandbox_init(): parenthesized rules, where the last match decides. The first rule allows
// everything: a list of what a gpu's driver may do would break with each release of macOS.
//
//   Files      Written only below `writable` and to the harmless devices. In the users' folders,
//              other volumes and /private/var/root, read only below `readable` and `writable`.
//   Processes  No program, no process of its own, no signals and no look at others.
//   Networks   No socket except those that are open already.
//
// INVALID_ARGUMENT names a path that is not absolute, or has a control character. Pure.
absl::StatusOr<std::string> SeatbeltProfile(const SeatbeltPaths& paths);

}  // namespace mpsd
