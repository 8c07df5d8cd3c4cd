// allowed_files: the files that a confined worker may still open.
#pragma once

#include <string>
#include <vector>

#include "worker/sandbox/sandbox.h"

namespace mpsd {

// kRead: files may be read. kDevice: files may be read, written and controlled by ioctl, but not
// made. kScratch: everything but making device files and sockets. No use includes starting a
// program.
enum class FileUse { kRead, kDevice, kScratch };

struct AllowedPath {
  std::string path;  // a file, or a folder with all that is in it; it may be missing
  FileUse use = FileUse::kRead;
};

// The paths that this model, device and machine need. Reads the environment and the list of loaded
// libraries. Called on the main thread while no other thread runs.
std::vector<AllowedPath> AllowedFiles(const SandboxOptions& options);

}  // namespace mpsd
