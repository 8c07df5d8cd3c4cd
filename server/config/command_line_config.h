// CommandLineConfig: the config of a daemon whose command line names no config file. It names a
// model or a folder instead, or nothing at all:
//
//   mpsd serve                                ./mpsd.json, else /etc/mpsd/mpsd.json
//   mpsd serve resnet.pt --input x:FP32[-1,3,224,224] --max-batch-size 32
//   mpsd serve ./bge-small-en ./bge-reranker-base
//   mpsd serve ./bge-small-en --port 9000 --http-port 9001
//   mpsd serve --model-repository /srv/models --explicit
//
// A config without a file is as complete as one that was read. It sets no rules of access, and has
// the default addresses and the default state folder where no flag says others. The socket in the
// state folder is left out where its path would be too long for a socket: a command line cannot
// name another.
//
// main calls these functions at the start. At a reload the thread `reloader` calls them once more
// with the same arguments: a model file that has changed since gets a new stamp, and so a new
// generation. They ask the file system, keep nothing and are thread-safe. A failure at the start
// ends the daemon with exit code 78; at a reload it changes nothing.
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

// Where the config file of a command line that names none is looked for, in this order. `mpsd init`
// writes the first.
inline constexpr std::string_view kConfigPlaces[] = {"mpsd.json", "/etc/mpsd/mpsd.json"};

// The first of `places` where there is something, as an absolute path. NOT_FOUND names them all.
// Main calls it once: a reload reads the same file again, wherever another one has appeared since.
absl::StatusOr<std::string> FindConfig(absl::Span<const std::string_view> places);

// The flags of `serve` that are about the models.
struct ModelFlags {
  std::vector<TensorSpec> inputs;  // with whole shapes
  uint32_t max_batch_size = 0;     // 0: not said
  std::string device = "auto";
  std::string name;         // empty: that of the file or folder
  bool keep_going = false;  // see Config
};

// The config of a daemon that serves these model files, or folders of Hugging Face's, and nothing
// else. A model is named for its file without the suffix, or for its folder; a folder of a hub's
// cache is named for the model there. Characters that a name may not have become '-', and those
// before the first letter or digit go. "model" where nothing is left.
//
// Inputs, a batch size and a name are those of the only file; the device is that of all. The shapes
// of `inputs` are whole, unlike those of a config. If the first dim of all of them is -1 the model
// batches, up to `max_batch_size` rows (0: 64), and a ModelSpec leaves that dim out. Without inputs
// the file says them. A name that the file does not know is a mistake, which the worker finds: a
// person who types a name means an argument. A config file may give arguments other names.
//
// NOT_FOUND where there is no such file. INVALID_ARGUMENT for a suffix that tells no format, and
// for a device or a name that cannot be. The same for inputs if only some begin with -1, and for a
// batch size if none does. The same for inputs, a batch size or a name beside several files, for
// files whose models would have one name, and for more than kMaxModels. REQUIRES: there is a file.
absl::StatusOr<Config> ConfigFromModelFiles(const std::vector<std::string>& files,
                                            const ModelFlags& flags);

// The config of a daemon that serves a model repository and nothing else: the same as a config file
// of one line, {"model_repository": "/srv/models"}. All models in it are
// served; if `explicit_control` none is, until clients load them with RepositoryModelLoad. The
// folder's contents are read later, by ModelRepository. NOT_FOUND where there is no such folder.
absl::StatusOr<Config> ConfigFromRepository(const std::string& folder, bool explicit_control);

// The flags of `serve` that say the addresses, where there is no config file.
struct ListenFlags {
  std::string host;                   // empty: 127.0.0.1
  std::optional<uint16_t> port;       // for gRPC; nothing: 8001
  std::optional<uint16_t> http_port;  // nothing: 8000 and 8002
  bool plaintext = false;             // as the key of a config

  bool operator==(const ListenFlags&) const = default;
};

// Fills in what no flag says from the environment, so that a container needs no command line:
//
//   MPSD_HOST, MPSD_PORT          --host, --port
//   MPSD_HTTP_PORT, else PORT     --http-port
//   MPSD_PLAINTEXT=1              --plaintext
//   MPSD_DEVICE                   --device
//
// `variable` gives a variable's value, or null; an empty one says nothing. INVALID_ARGUMENT names a
// variable that is no port.
absl::Status ReadEnvironment(const std::function<const char*(const char*)>& variable,
                             ListenFlags* listen, ModelFlags* model);

// Has the daemon listen as the flags say. With another port for gRPC the state folder has the port
// in its name, so that a second daemon can run beside the first. INVALID_ARGUMENT, which names the
// flag, where the host is no name or address; and where other hosts can reach it, unless
// `plaintext` says that something protects it. REQUIRES: `config` was made by a function above.
absl::Status SetAddresses(const ListenFlags& flags, Config* config);

}  // namespace mpsd
