#include "proto/files/file_stamp.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "proto/base/platform.h"

namespace mpsd {
namespace {

constexpr int kDeepest = 1;         // folders in the model's folder, such as 1_Pooling
constexpr size_t kMaxFiles = 1000;  // of a folder; further ones are not looked at

uint64_t Mix(uint64_t value) {  // so that files that change places change the sum
  value = (value ^ (value >> 31)) * 0x9e3779b97f4a7c15;
  return value ^ (value >> 29);
}

FileStamp StampOfStatus(const struct stat& status) {
  return {static_cast<uint64_t>(status.st_ino), static_cast<uint64_t>(status.st_size),
          platform::ModifiedNs(status)};
}

// `name` tells a file from others of the same contents.
void AddFile(const std::string& name, const FileStamp& file, FileStamp* sum) {
  const uint64_t of_name = std::hash<std::string>()(name);
  sum->inode += Mix(Mix(of_name) ^ file.inode ^ Mix(static_cast<uint64_t>(file.modified_ns)));
  sum->bytes += file.bytes;
  sum->modified_ns = std::max(sum->modified_ns, file.modified_ns);
}

bool IsOfModel(const std::filesystem::path& path) {
  return path.extension() == ".json" || path.extension() == ".safetensors";
}

// The order in which the system names the files changes nothing: sums and a maximum. Other files,
// such as those that a desktop leaves, may come and go, and so the folder's own time does not
// count.
FileStamp StampOfFolder(const std::string& path, uint64_t inode) {
  FileStamp stamp = {inode, 0, 0};
  std::error_code error;
  size_t count = 0;
  for (std::filesystem::recursive_directory_iterator files(path, error), end;
       !error && files != end && count < kMaxFiles; files.increment(error), ++count) {
    if (files.depth() >= kDeepest) files.disable_recursion_pending();
    struct stat status {};
    if (!IsOfModel(files->path()) || stat(files->path().c_str(), &status) != 0) continue;
    AddFile(files->path().lexically_relative(path).string(), StampOfStatus(status), &stamp);
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

FileStamp StampOfFiles(const std::vector<std::string>& paths) {
  FileStamp sum;
  for (const std::string& path : paths) {
    const FileStamp file = StampOf(path);
    if (file != FileStamp()) AddFile(path, file, &sum);
  }
  return sum;
}

// A fifo under this name would keep an open() waiting that may wait.
UniqueFd OpenAsStamped(const std::string& path, const FileStamp& stamp) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  const bool is_it = fd.valid() && fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     StampOfStatus(status) == stamp;
  return is_it ? std::move(fd) : UniqueFd();
}

}  // namespace mpsd
