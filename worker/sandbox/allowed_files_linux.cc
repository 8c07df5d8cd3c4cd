#include <glob.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/base/platform.h"
#include "proto/files/file_stamp.h"
#include "proto/files/folder_links.h"
#include "worker/sandbox/allowed_files.h"

namespace mpsd {
namespace {

// Libraries that are loaded at run time, time zones, locales, and what OpenMP and BLAS ask about
// the machine. In /etc only single files.
constexpr const char* kReadable[] = {
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/locale",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/filesystems",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/dev/random",
    "/dev/urandom",
};

constexpr const char* kHarmlessDevices[] = {"/dev/null", "/dev/zero", "/dev/full"};

// The C library, OpenMP and BLAS read these. The other files tell about the host: its mounts, and
// with "net" everybody's connections.
constexpr const char* kOwnProcess[] = {
    "auxv", "cgroup", "cmdline", "environ", "maps", "smaps", "stat", "statm", "status",
};

// NVIDIA's libraries read these. In containers the driver's lie in /usr/local/nvidia.
constexpr const char* kGpuReadable[] = {
    "/usr/local/cuda",     "/usr/local/cuda-*",   "/usr/local/nvidia", "/usr/share/nvidia",
    "/etc/nvidia",         "/proc/driver/nvidia", "/proc/devices",     "/proc/modules",
    "/sys/bus/pci",        "/sys/class/drm",      "/sys/devices/pci*", "/sys/devices/system/memory",
    "/sys/module/nvidia*",
};

// In the last folder is CUDA's Multi-Process Service.
constexpr const char* kGpuDevices[] = {"/dev/nvidia*", "/dev/dri", "/tmp/nvidia-mps"};

int AddFolderOfLibrary(dl_phdr_info* info, size_t, void* folders) {
  const std::filesystem::path library(info->dlpi_name);
  if (library.is_absolute()) {
    static_cast<std::set<std::string>*>(folders)->insert(library.parent_path().string());
  }
  return 0;
}

// Where loaded libraries lie, and where to look for more.
std::set<std::string> LibraryFolders() {
  std::set<std::string> folders;
  dl_iterate_phdr(AddFolderOfLibrary, &folders);
  if (const char* told = std::getenv("LD_LIBRARY_PATH"); told != nullptr) {
    for (const absl::string_view folder : absl::StrSplit(told, ':', absl::SkipEmpty())) {
      if (absl::StartsWith(folder, "/")) folders.emplace(folder);
    }
  }
  return folders;
}

void AddMatches(const std::string& pattern, FileUse use, std::vector<AllowedPath>* allowed) {
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) allowed->push_back({found.gl_pathv[i], use});
  }
  globfree(&found);
}

// Takes the number: "self" would mean the process that opens the path.
void AddOwnProcess(SandboxLevel level, std::vector<AllowedPath>* allowed) {
  const std::string folder = absl::StrCat("/proc/", getpid());
  if (level != SandboxLevel::kStrict) return allowed->push_back({folder, FileUse::kRead});
  for (const char* name : kOwnProcess) {
    allowed->push_back({absl::StrCat(folder, "/", name), FileUse::kRead});
  }
}

void AddGpu(const std::set<std::string>& library_folders, std::vector<AllowedPath>* allowed) {
  for (const char* pattern : kGpuReadable) AddMatches(pattern, FileUse::kRead, allowed);
  for (const char* pattern : kGpuDevices) AddMatches(pattern, FileUse::kDevice, allowed);
  // The driver names its threads here, and otherwise does not start.
  allowed->push_back({absl::StrCat("/proc/", getpid(), "/task"), FileUse::kDevice});
  if (const char* mps = std::getenv("CUDA_MPS_PIPE_DIRECTORY"); mps != nullptr) {
    allowed->push_back({mps, FileUse::kDevice});
  }
  // Parts of mpsd for the device lie here.
  if (const absl::StatusOr<std::string> program = platform::ExecutablePath(); program.ok()) {
    const std::string folder = std::filesystem::path(*program).parent_path().string();
    AddMatches(folder + "/libmpsd-*.so", FileUse::kRead, allowed);
  }
  // In a Python environment the device's libraries are wheels beside torch's.
  for (const std::string& folder : library_folders) {
    AddMatches(folder + "/../../nvidia", FileUse::kRead, allowed);
  }
}

// Adds the file that a link in a model's folder leads to. A folder may come from strangers, so
// other links open nothing. The file goes on the list, so nobody can redirect the link before the
// rule is made.
void AddLinked(const std::filesystem::path& link, const FolderLinks& links,
               std::vector<AllowedPath>* allowed) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(link, error);
  if (error || !IsModelFile(link) || !std::filesystem::is_regular_file(target, error)) return;
  if (links.Allow(target)) allowed->push_back({target.string(), FileUse::kRead});
}

void AddModel(const std::string& path, std::vector<AllowedPath>* allowed) {
  allowed->push_back({path, FileUse::kRead});
  const FolderLinks links(path);
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator files(path, error), end;
       !error && files != end; files.increment(error)) {
    if (files.depth() > 0) files.disable_recursion_pending();
    if (files->is_symlink(error)) AddLinked(files->path(), links, allowed);
  }
}

}  // namespace

std::vector<AllowedPath> AllowedFiles(const SandboxOptions& options) {
  std::vector<AllowedPath> allowed;
  for (const char* path : kReadable) allowed.push_back({path, FileUse::kRead});
  for (const char* path : kHarmlessDevices) allowed.push_back({path, FileUse::kDevice});
  AddOwnProcess(options.level, &allowed);
  const std::set<std::string> library_folders = LibraryFolders();
  for (const std::string& folder : library_folders) allowed.push_back({folder, FileUse::kRead});
  if (const absl::StatusOr<std::string> program = platform::ExecutablePath(); program.ok()) {
    allowed.push_back({*program, FileUse::kRead});
  }
  if (options.device != "cpu") AddGpu(library_folders, &allowed);
  if (!options.model_file.empty()) AddModel(options.model_file, &allowed);
  if (!options.temporary_folder.empty()) {
    allowed.push_back({options.temporary_folder, FileUse::kScratch});
  }
  return allowed;
}

}  // namespace mpsd
