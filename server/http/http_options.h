// HttpServerOptions, HttpAddress, HttpGroup: the HTTP server's config.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/http/connections/certificate_source.h"
#include "server/http/inherited_sockets.h"

namespace mpsd {

class Logger;

struct HttpAddress {
  // The control socket is for this process's user and root alone.
  enum class Kind : uint8_t { kPlain, kTls, kControl };

  std::string address;   // "127.0.0.1:8000", "unix:/run/mpsd/http.sock"
  const char* key = "";  // the config's
  Kind kind = Kind::kPlain;
  bool has_own_thread = false;  // no other address's connection delays this one's
};

// Addresses that share bounds. No time is 0.
struct HttpGroup {
  std::vector<HttpAddress> addresses;
  uint32_t connections = 1024;
  uint64_t connection_requests = UINT64_MAX;  // the reply to its last one ends a connection
  int64_t idle_ns = 0;
};

// No time except `keepalive_ns` is 0.
struct HttpServerOptions {
  std::vector<HttpGroup> groups;
  std::shared_ptr<InheritedSockets> inherited;      // null: all sockets are opened anew
  std::shared_ptr<CertificateSource> certificates;  // REQUIRES: not null if TLS is used
  bool client_must_show_certificate = false;
  uint32_t threads = 1;      // shared by addresses without their own
  uint32_t streams = 128;    // HTTP/2: at a time on a connection
  uint32_t resets = 10'000;  // HTTP/2: by a client, in a second
  uint64_t head_bytes = 8 << 10;
  uint64_t message_bytes = 0;   // one body
  uint64_t buffered_bytes = 0;  // all bodies together
  int64_t handshake_ns = 0;
  int64_t head_ns = 0;         // first to last byte of a head
  int64_t body_ns = 0;         // likewise of a body
  int64_t answer_ns = 0;       // for the client to take a reply
  int64_t keepalive_ns = 0;    // silence before a probe; 0: never
  int64_t age_ns = INT64_MAX;  // an older connection ends with its next reply
  Logger* logger = nullptr;    // null: no log
};

}  // namespace mpsd
