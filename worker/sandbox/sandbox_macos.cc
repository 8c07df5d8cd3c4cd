// macOS's Seatbelt. Its two functions are deprecated, but browsers use them. They are looked up,
// because not every toolchain has their header. Not yet run on a Mac.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/sandbox/confinement.h"
#include "worker/sandbox/seatbelt_profile.h"

namespace mpsd {
namespace {

// Nothing if the path does not exist.
std::string RealPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? "" : real.string();
}

void AddReal(const std::string& path, std::vector<std::string>* paths) {
  const std::string real = path.empty() ? "" : RealPath(path);
  if (!real.empty() && real != "/") paths->push_back(real);
}

// The system's own libraries are no files.
std::vector<std::string> LoadedImages() {
  std::vector<std::string> images;
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) {
    const char* const image = _dyld_get_image_name(i);
    if (image != nullptr) AddReal(image, &images);
  }
  return images;
}

// Where Metal keeps this program's compiled kernels.
std::string KernelCache() {
  char folder[PATH_MAX];
  const size_t bytes = confstr(_CS_DARWIN_USER_CACHE_DIR, folder, sizeof(folder));
  if (bytes == 0 || bytes > sizeof(folder)) return "";
  return absl::StrCat(folder, "/mpsd-worker");
}

// A snapshot in Hugging Face's cache has links to files that one model's snapshots share.
void AddModel(const std::string& path, std::vector<std::string>* readable) {
  AddReal(path, readable);
  const std::filesystem::path parent = std::filesystem::path(RealPath(path)).parent_path();
  if (parent.filename() == "snapshots") AddReal((parent / "../blobs").string(), readable);
}

SeatbeltPaths PathsOf(const SandboxOptions& options) {
  SeatbeltPaths paths;
  AddModel(options.model_file, &paths.readable);
  for (std::string& path : CodePaths(LoadedImages())) paths.readable.push_back(std::move(path));
  AddReal(options.temporary_folder, &paths.writable);
  if (options.device != "cpu") {
    const std::string cache = KernelCache();
    std::error_code ignored;  // without the folder kernels are compiled anew
    if (!cache.empty()) std::filesystem::create_directories(cache, ignored);
    AddReal(cache, &paths.writable);
  }
  return paths;
}

absl::Status Enter(const std::string& profile) {
  using Init = int (*)(const char* profile, uint64_t flags, char** error);
  const auto init = reinterpret_cast<Init>(dlsym(RTLD_DEFAULT, "sandbox_init"));
  if (init == nullptr) return absl::UnimplementedError("this system has no sandbox_init");
  char* error = nullptr;
  if (init(profile.c_str(), 0, &error) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("sandbox_init: ", error == nullptr ? "no reason given" : error));
}

// A profile that denies nothing would be worse than none.
absl::Status CheckItDenies() {
  const std::string path = absl::StrCat("/private/tmp/mpsd-sandbox-", getpid());
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return absl::OkStatus();
  close(fd);
  unlink(path.c_str());
  return absl::FailedPreconditionError("the sandbox was entered and denies nothing");
}

}  // namespace

absl::Status ConfineFiles(const SandboxOptions& options) {
  if (options.level == SandboxLevel::kStrict) {
    return absl::UnimplementedError("macOS seals no calls: there is the level 'basic' alone");
  }
  const absl::StatusOr<std::string> profile = SeatbeltProfile(PathsOf(options));
  if (!profile.ok()) return profile.status();
  absl::Status status = Enter(*profile);
  if (status.ok()) status = CheckItDenies();
  return status;
}

}  // namespace mpsd
