// The control socket's reader, over a socket on which anything may come in any pieces. A message
// that is taken can be sent again and is taken again.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "proto/link/messages.h"
#include "tests/fuzz/fuzz_input.h"

namespace mpsd {
namespace {

constexpr size_t kMostBytes = 16 << 10;  // fits into a socket's buffer

void SendAgain(const Message& message) {
  auto sockets = platform::SocketPair();
  MPSD_CHECK(sockets.ok());
  MPSD_CHECK(SendMessage(sockets->first.get(), message).ok());
  MessageReader reader;
  absl::StatusOr<MessageReader::Received> again = reader.Read(sockets->second.get());
  while (absl::IsOutOfRange(again.status())) again = reader.Read(sockets->second.get());
  MPSD_CHECK(again.ok() && again->message.index() == message.index());
}

// Half of the inputs get a header that is right, so that the others' is not all that is tried.
std::string WithHeader(const std::string& text) {
  const uint32_t header[] = {0x4453504d, kLinkVersion, static_cast<uint32_t>(text.size())};
  return std::string(reinterpret_cast<const char*>(header), sizeof(header)) + text;
}

void Read(FuzzInput input) {
  auto sockets = platform::SocketPair();
  MPSD_CHECK(sockets.ok());
  const auto shape = input.Take<uint8_t>();
  const size_t piece_bytes = 1 + input.Take<uint16_t>() % kMostBytes;
  std::string bytes = input.TakeText(kMostBytes);
  if (shape % 2 == 0) bytes = WithHeader(bytes);
  MessageReader reader;
  const int any_fd = STDERR_FILENO;  // not the socket's own: its end must be the last
  for (size_t at = 0; at < bytes.size(); at += piece_bytes) {
    const absl::Span<const char> piece(bytes.data() + at, std::min(piece_bytes, bytes.size() - at));
    const bool with_fd = (shape & 2) != 0;
    const absl::Span<const int> fds(&any_fd, with_fd ? 1 : 0);
    MPSD_CHECK(platform::SendWithFds(sockets->first.get(), piece, fds).ok());
    const absl::StatusOr<MessageReader::Received> received = reader.Read(sockets->second.get());
    if (received.ok()) SendAgain(received->message);
    if (!received.ok() && !absl::IsOutOfRange(received.status())) return;
  }
  sockets->first = UniqueFd();
  while (reader.Read(sockets->second.get()).ok()) {
  }
}

}  // namespace
}  // namespace mpsd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  mpsd::Read(mpsd::FuzzInput(data, bytes));
  return 0;
}
