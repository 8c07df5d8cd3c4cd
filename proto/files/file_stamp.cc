#include "proto/files/file_stamp.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "proto/base/platform.h"

namespace mpsd {
namespace {

constexpr int kDeepest = 1;         // depth of folders inside the model's: 1_Pooling
constexpr size_t kMaxFiles = 1000;  // files read in a folder; further ones are ignored

uint64_t Mix(uint64_t value) {  // the sum changes when two files swap places
  value = (value ^ (value >> 31)) * 0x9e3779b97f4a7c15;
  return value ^ (value >> 29);
}

FileStamp StampOfStatus(const struct stat& status) {
  return {static_cast<uint64_t>(status.st_ino), static_cast<uint64_t>(status.st_size),
          platform::ModifiedNs(status)};
}

// `name` tells apart files with the same contents.
void AddFile(const std::string& name, const FileStamp& file, FileStamp* sum) {
  const uint64_t of_name = std::hash<std::string>()(name);
  sum->inode += Mix(Mix(of_name) ^ file.inode ^ Mix(static_cast<uint64_t>(file.modified_ns)));
  sum->bytes += file.bytes;
  sum->modified_ns = std::max(sum->modified_ns, file.modified_ns);
}

// The order of files does not matter. The folder's own time does not count, because other files may
// come and go.
FileStamp StampOfFolder(const std::string& path, uint64_t inode) {
  FileStamp stamp = {inode, 0, 0};
  for (const std::string& name : FilesOfFolder(path)) {
    struct stat status {};
    if (stat((std::filesystem::path(path) / name).c_str(), &status) != 0) continue;
    AddFile(name, StampOfStatus(status), &stamp);
  }
  return stamp;
}

}  // namespace

FileStamp StampOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  const FileStamp own = StampOfStatus(status);
  return S_ISDIR(status.st_mode) ? StampOfFolder(path, own.inode) : own;
}

FileStamp StampOfOpenFile(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? StampOfStatus(status) : FileStamp();
}

bool IsModelFile(const std::filesystem::path& name) {
  const std::filesystem::path ending = name.extension();
  return ending == ".json" || ending == ".safetensors" ||
         (ending == ".bin" && absl::StartsWith(name.filename().string(), "pytorch_model"));
}

std::vector<std::string> FilesOfFolder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  size_t count = 0;
  for (std::filesystem::recursive_directory_iterator files(path, error), end;
       !error && files != end && count < kMaxFiles; files.increment(error), ++count) {
    if (files.depth() >= kDeepest) files.disable_recursion_pending();
    if (!IsModelFile(files->path())) continue;
    names.push_back(files->path().lexically_relative(path).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

FileStamp StampOfFiles(const std::vector<std::string>& paths) {
  FileStamp sum;
  for (const std::string& path : paths) {
    const FileStamp file = StampOf(path);
    if (file != FileStamp()) AddFile(path, file, &sum);
  }
  return sum;
}

// O_NONBLOCK: otherwise open() of a fifo would wait.
UniqueFd OpenAsStamped(const std::string& path, const FileStamp& stamp) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  const bool is_it = fd.valid() && fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     StampOfStatus(status) == stamp;
  return is_it ? std::move(fd) : UniqueFd();
}

}  // namespace mpsd
