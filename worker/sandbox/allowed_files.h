// allowed_files: the files that a confined worker may still open.
//
// ConfineFiles() (confinement.h) turns this list into the kernel's rules. The list begins with
// nothing, and has what a model needs to run and no more:
//
//   every model        libraries, locales, time zones, single files about this machine, /dev/null
//                      and its like, what /proc says of this process, the program itself
//   its own            the model's file or folder to read, with the .json and .safetensors that
//                      links in the folder lead to, inside of the folder or of Hugging Face's
//                      cache of the same model; the temporary folder to write to
//   not on the cpu     the device's nodes, and what its driver reads in /etc, /proc and /sys
//
// What /proc says of other processes, other models, and the home folder are not on it; everything
// in a folder of libraries is. A file that a new version of a driver or library needs is added
// here; docs/sandbox.md tells operators what the list means.
#pragma once

#include <string>
#include <vector>

#include "worker/sandbox/sandbox.h"

namespace mpsd {

// What may be done with the files of a path. kRead: read them. kDevice: read, write and control
// them by ioctl, but make none. kScratch: everything but making device files and sockets. No use
// includes starting a program.
enum class FileUse { kRead, kDevice, kScratch };

// One entry of the list. Paths may overlap; a file may be used as any entry above it allows.
struct AllowedPath {
  std::string path;  // a file, or a folder with all that is in it; it may be missing
  FileUse use = FileUse::kRead;
};

// The paths that this model, device and machine need. Reads the environment (LD_LIBRARY_PATH,
// CUDA_MPS_PIPE_DIRECTORY), the list of loaded libraries and, for patterns, folders. A device other
// than "cpu", "auto" included, gets the device's files. Called on the main thread while no other
// thread runs, before the files are confined. Never fails: a path that cannot be found out is left
// out, and opening its files fails later.
std::vector<AllowedPath> AllowedFiles(const SandboxOptions& options);

}  // namespace mpsd
