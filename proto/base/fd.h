// UniqueFd: the owner of one file descriptor.
//
//   UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
//   if (!fd.valid()) return absl::ErrnoToStatus(errno, path);
//   order.fds.push_back(std::move(fd));     // now the order's to close
#pragma once

#include <unistd.h>

#include <utility>

namespace mpsd {

// Every descriptor has exactly one owner. A function that takes a UniqueFd by value owns it, even
// if the function fails; a plain `int fd` is borrowed for the call. Errors of close() are ignored:
// no descriptor here has unwritten data. Thread-compatible.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { Reset(); }

  // The descriptor stays owned here; -1: none.
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  // The caller closes the descriptor.
  int Release() { return std::exchange(fd_, -1); }

  void Reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace mpsd
