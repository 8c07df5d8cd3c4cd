// allowed_files: the files that a confined worker may still open.
//
// ConfineFiles() (confinement.h) turns this list into the kernel's rules. The list has only what a
// model needs to run:
//
//   Every model        Libraries, locales, time zones, single files about this machine, /dev/null
//                      and similar devices, this process's part of /proc, the program itself.
//   Its own            The model's file or folder, to read. Links that loaders follow
//                      (IsModelFile) lead into the folder or Hugging Face's cache of that model.
//                      The temporary folder, to write.
//   Not on the cpu     The device's nodes, and what its driver reads in /etc, /proc and /sys.
//
// The list does not include /proc's data about other processes, other models, or the home folder. A
// folder of libraries is included with all that is in it. If a new version of a driver or library
// needs another file, add it here. docs/sandbox.md tells operators what the list means.
#pragma once

#include <string>
#include <vector>

#include "worker/sandbox/sandbox.h"

namespace mpsd {

// The allowed uses of a path's files. kRead: read them. kDevice: read, write and control them by
// ioctl, but create none. kScratch: everything except creating device files and sockets. No use
// includes starting a program.
enum class FileUse { kRead, kDevice, kScratch };

// One entry of the list. Paths may overlap; a file allows everything that any entry above it
// allows.
struct AllowedPath {
  std::string path;  // a file, or a folder with all that is in it; it may be missing
  FileUse use = FileUse::kRead;
};

// The paths that this model, device and machine need. Reads the environment (LD_LIBRARY_PATH,
// CUDA_MPS_PIPE_DIRECTORY), the list of loaded libraries and, for patterns, folders. Any device
// except "cpu", "auto" included, gets the device's files. Called on the main thread while no other
// thread runs, before the files are confined. Never fails: a path that cannot be determined is left
// out, and opening its files fails later.
std::vector<AllowedPath> AllowedFiles(const SandboxOptions& options);

}  // namespace mpsd
