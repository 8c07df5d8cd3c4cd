// allowed_files: the files that a confined worker may still open.
//
//   Every model        Libraries, locales, time zones, single files about this machine, /dev/null
//                      and similar devices, this process's part of /proc, the program itself.
//   Its own            The model's file or folder, to read. Links that loaders follow
//                      (IsModelFile) lead into the folder or Hugging Face's cache of that model.
//                      The temporary folder, to write.
//   Not on the cpu     The device's nodes, and what its driver reads in /etc, /proc and /sys.
//
// Not on it: /proc's data about other processes, other models, and the home folder. If a new driver
// or library needs another file, add it here. docs/sandbox.md is for operators.
#pragma once

#include <string>
#include <vector>

#include "worker/sandbox/sandbox.h"

namespace mpsd {

// kDevice: read, write, and control by ioctl, but create none. kScratch: everything except creating
// device files and sockets. No use includes starting a program.
enum class FileUse { kRead, kDevice, kScratch };

// Paths may overlap; a file allows what any entry above it allows.
struct AllowedPath {
  std::string path;  // a file, or a folder with all in it; may be missing
  FileUse use = FileUse::kRead;
};

// Reads the environment (LD_LIBRARY_PATH, CUDA_MPS_PIPE_DIRECTORY), the loaded libraries and
// folders. Any device except "cpu" gets the device's files. Called on the main thread while no
// other runs. A path that cannot be determined is left out.
std::vector<AllowedPath> AllowedFiles(const SandboxOptions& options);

}  // namespace mpsd
