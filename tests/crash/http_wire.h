// HttpWire: one connection of HTTP, as a client has it who may send slowly and leave at any time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "proto/base/fd.h"
#include "tests/crash/http_infer.h"

namespace mpsd::crash {

// Thread-compatible. Blocks.
class HttpWire {
 public:
  enum class Outcome {
    kReply,
    kLate,    // no whole reply has come in time
    kBroken,  // none will come: the connection has ended, or what came is not HTTP
  };

  // `address` is that of an IPv4 host, "127.0.0.1:8000".
  explicit HttpWire(std::string address) : address_(std::move(address)) {}

  // Connects, unless there is a connection that the server keeps. False where nobody listens.
  bool Connect();

  // Whether bytes have come to which there was no request.
  bool HasUnasked();

  // False where the connection has ended.
  bool Send(absl::string_view bytes);

  // Waits for a reply until then, and closes the connection unless the server keeps it.
  Outcome Read(int64_t until_ns, HttpReply* reply);

  void Close();

 private:
  Outcome Receive(int64_t until_ns);

  const std::string address_;
  UniqueFd socket_;
  std::string input_;  // bytes that have come and are not read
};

}  // namespace mpsd::crash
