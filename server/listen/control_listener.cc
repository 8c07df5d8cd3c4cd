#include "server/listen/control_listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/peer_user.h"
#include "server/listen/accept_guard.h"

namespace mpsd {
namespace {

constexpr uint64_t kConnection = 1;
constexpr uint64_t kEnd = 2;
constexpr int kBacklog = 16;
// How long the thread rests after a failed accept(), such as without descriptors.
constexpr int64_t kRestNs = 100 * kNsPerMs;

bool Prepare(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && flags >= 0 &&
         fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy_n(path.data(), std::min(path.size(), sizeof(address.sun_path) - 1), address.sun_path);
  return address;
}

// Whether nobody listens on the socket and only its file is left.
bool IsLeftBehind(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM, 0));
  const sockaddr_un address = AddressOf(path);
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
         errno == ECONNREFUSED;
}

absl::Status CannotListen(const std::string& path, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("cannot listen on unix:", path, ": ", why));
}

// Binds, then restricts the mode, then listens: no other user can connect in between.
absl::StatusOr<UniqueFd> Listen(const std::string& path) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM, 0));
  if (!fd.valid() || !Prepare(fd.get())) return CannotListen(path, strerror(errno));
  const sockaddr_un address = AddressOf(path);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return CannotListen(path, strerror(errno));
  }
  if (chmod(path.c_str(), 0600) != 0 || listen(fd.get(), kBacklog) != 0) {
    unlink(path.c_str());
    return CannotListen(path, strerror(errno));
  }
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlListener>> ControlListener::Open(const std::string& address,
                                                                       Logger* logger) {
  const std::string path(absl::StripPrefix(address, "unix:"));
  if (IsLeftBehind(path)) unlink(path.c_str());
  absl::StatusOr<platform::Bell> bell = platform::CreateBell();
  if (!bell.ok()) return bell.status();
  absl::StatusOr<platform::Poller> poller = platform::Poller::Create();
  if (!poller.ok()) return poller.status();
  absl::StatusOr<UniqueFd> listener = Listen(path);
  if (!listener.ok()) return listener.status();
  absl::Status status = poller->AddReadable(listener->get(), kConnection);
  if (status.ok()) status = poller->AddReadable(bell->poll_fd.get(), kEnd);
  if (!status.ok()) return status;
  return std::unique_ptr<ControlListener>(new ControlListener(
      path, *std::move(listener), *std::move(bell), *std::move(poller), logger));
}

ControlListener::ControlListener(std::string path, UniqueFd listener, platform::Bell bell,
                                 platform::Poller poller, Logger* logger)
    : path_(std::move(path)),
      listener_(std::move(listener)),
      bell_(std::move(bell)),
      poller_(std::move(poller)),
      logger_(logger) {}

ControlListener::~ControlListener() {
  unlink(path_.c_str());
  platform::RingBell(bell_.ring_fd.get());
  if (thread_.joinable()) thread_.join();
}

void ControlListener::Start(
    std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor) {
  MPSD_CHECK(!thread_.joinable());
  acceptor_ = std::move(acceptor);
  thread_ = std::thread([this] { Main(); });
}

void ControlListener::Main() {
  platform::NameThread("control");
  for (;;) {
    const std::vector<uint64_t>& ready = poller_.Wait(-1);
    if (std::find(ready.begin(), ready.end(), kEnd) != ready.end()) return;
    if (!ready.empty()) TakeConnection();
  }
}

void ControlListener::TakeConnection() {
  UniqueFd connection(accept(listener_.get(), nullptr, nullptr));
  if (!connection.valid()) {
    const bool is_over = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    if (is_over) return;
    logger_->Log(LogLevel::kError, "control_connection_lost", {{"error", strerror(errno)}});
    absl::SleepFor(absl::Nanoseconds(kRestNs));
    return;
  }
  if (!Prepare(connection.get()) || !IsLetIn(connection.get())) return;
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
  parameters.listener_fd = listener_.get();
  GuardConnection(connection.get());
  parameters.fd = connection.Release();
  acceptor_->HandleNewConnection(&parameters);
}

bool ControlListener::IsLetIn(int connection) const {
  const absl::StatusOr<uint32_t> user = platform::PeerUser(connection);
  const bool let_in = user.ok() && (*user == geteuid() || *user == 0);
  if (!let_in) {
    logger_->Log(LogLevel::kWarn, "control_connection_refused",
                 {{"user", user.ok() ? static_cast<int64_t>(*user) : -1}});
  }
  return let_in;
}

}  // namespace mpsd
