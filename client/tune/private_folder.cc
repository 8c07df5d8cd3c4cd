#include "client/tune/private_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mpsd::tune {
namespace {

constexpr size_t kLongestParent = 60;  // a socket's path has 103 bytes on macOS

std::string Parent() {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error).string();
  return error || path.size() > kLongestParent ? "/tmp" : path;
}

}  // namespace

absl::StatusOr<PrivateFolder> PrivateFolder::Make() {
  std::string path = (std::filesystem::path(Parent()) / "mpsd-tune-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make a folder like ", path));
  }
  return PrivateFolder(std::move(path));
}

PrivateFolder::PrivateFolder(std::string path) : path_(std::move(path)) {}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")) {}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace mpsd::tune
