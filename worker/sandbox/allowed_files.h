// The files that a confined worker may still open.
#pragma once

#include <string>
#include <vector>

#include "worker/sandbox/sandbox.h"

namespace mpsd {

// kRead: what is there may be read. kDevice: read, written and asked by ioctl, nothing made.
// kScratch: everything but device files and sockets. A program is never started.
enum class FileUse { kRead, kDevice, kScratch };

struct AllowedPath {
  std::string path;  // a file, or a folder with all that is in it; it need not be there
  FileUse use = FileUse::kRead;
};

// Reads the environment and the list of loaded libraries, so it REQUIRES that no thread changes
// them.
std::vector<AllowedPath> AllowedFiles(const SandboxOptions& options);

}  // namespace mpsd
