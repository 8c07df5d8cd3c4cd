// CommandLineConfig: the config of a daemon whose command line names no config file:
//
//   mpsd serve                                ./mpsd.json, else /etc/mpsd/mpsd.json
//   mpsd serve resnet.pt --input x:FP32[-1,3,224,224] --max-batch-size 32
//   mpsd serve ./bge-small-en --port 9000 --http-port 9001
//   mpsd serve --model-repository /srv/models --explicit
//
// Such a config is complete and has no rules of access. main calls these functions at the start,
// the thread `reloader` at a reload, with the same arguments. All ask the file system, keep nothing
// and are thread-safe. A failure ends the start with exit code 78, and changes nothing at a reload.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "server/config/config.h"

namespace mpsd {

// Where a daemon looks for a config file, in this order. `mpsd init` writes the first.
inline constexpr std::string_view kConfigPlaces[] = {"mpsd.json", "/etc/mpsd/mpsd.json"};

// The first of `places` that exists, as an absolute path. NOT_FOUND names them all. Called once: a
// reload reads the same file again.
absl::StatusOr<std::string> FindConfig(absl::Span<const std::string_view> places);

struct ModelFlags {
  std::vector<TensorSpec> inputs;  // with whole shapes
  uint32_t max_batch_size = 0;     // 0: not said
  std::string device = "auto";
  std::string name;         // empty: the file's or folder's
  bool keep_going = false;  // see Config
};

// Serves these model files or Hugging Face folders. A model is named for its file without the
// suffix, its folder, or in the hub for a hub's cache folder. Characters that a name may not have
// become '-'; leading ones are dropped. If nothing is left the name is "model".
//
// Inputs, batch size and name apply to the only file, the device to all. If the first dim of every
// input is -1, the model batches up to `max_batch_size` rows (0: 64), and its ModelSpec leaves that
// dim out. Without inputs the file says them. The worker refuses an input's name that the file does
// not know.
//
// NOT_FOUND if a file is missing, or a folder has no config.json or no weights. INVALID_ARGUMENT
// for a suffix that tells no format, an unknown device or an invalid name. The same for inputs if
// only some begin with -1, and for a batch size if none does. The same for inputs, a batch size or
// a name beside several files, for files whose models would have the same name, and for more than
// kMaxModels files. REQUIRES: there is a file.
absl::StatusOr<Config> ConfigFromModelFiles(const std::vector<std::string>& files,
                                            const ModelFlags& flags);

// As the config file {"model_repository": "/srv/models"}; with `explicit_control` clients load the
// models. ModelRepository reads the folder later. NOT_FOUND if it is missing.
absl::StatusOr<Config> ConfigFromRepository(const std::string& folder, bool explicit_control);

// The addresses that `serve` has flags for.
struct ListenFlags {
  std::string host;                   // empty: 127.0.0.1
  std::optional<uint16_t> port;       // for gRPC; nothing: 8001
  std::optional<uint16_t> http_port;  // nothing: 8000 and 8002
  bool plaintext = false;

  bool operator==(const ListenFlags&) const = default;
};

// Fills in from the environment what no flag says, for containers:
//
//   MPSD_HOST, MPSD_PORT          --host, --port
//   MPSD_HTTP_PORT, else PORT     --http-port
//   MPSD_PLAINTEXT=1              --plaintext
//   MPSD_DEVICE                   --device
//
// `variable` gives a value, or null; an empty one says nothing. INVALID_ARGUMENT names a variable
// that is no port.
absl::Status ReadEnvironment(const std::function<const char*(const char*)>& variable,
                             ListenFlags* listen, ModelFlags* model);

// With another gRPC port the state folder's name has the port, so that a second daemon can run.
// INVALID_ARGUMENT names the flag if the host is no name or address, or if other hosts can reach it
// without `plaintext`. REQUIRES: a function above made `config`.
absl::Status SetAddresses(const ListenFlags& flags, Config* config);

}  // namespace mpsd
