// ServerOptions: the options that every client verb has, and how it begins with them.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/exit_code.h"
#include "client/client.h"

namespace mpsd::cli {

struct ServerOptions {
  std::string address = "127.0.0.1:8001";
  std::string timeout = "30s";
  bool json = false;
  bool tls = false;
  std::string tls_ca;  // paths
  std::string tls_certificate;
  std::string tls_key;
  std::string token_file;
};

// The files that the options name, read. Errors name the file. Thread-safe.
absl::StatusOr<client::ConnectOptions> ReadConnectOptions(const ServerOptions& options);

// Connects as the options say. `*code` is how the verb exits when it fails.
absl::StatusOr<std::unique_ptr<client::Client>> Connect(const ServerOptions& options,
                                                        absl::Time deadline, ExitCode* code);

// The option `timeout`, which must be more than nothing. Thread-safe.
absl::StatusOr<absl::Duration> ParseTimeout(const ServerOptions& options);

// Writes "mpsd: TEXT" and returns `code`; the text of an error that the server answered begins with
// the name of its code.
int Fail(std::ostream& err, ExitCode code, const absl::Status& status);

}  // namespace mpsd::cli
