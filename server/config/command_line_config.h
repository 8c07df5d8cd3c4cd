// CommandLineConfig: the config of a daemon whose command line names no config file. It names a
// model or a folder instead, or nothing at all:
//
//   mpsd serve                                ./mpsd.json, else /etc/mpsd/mpsd.json
//   mpsd serve resnet.pt --input x:FP32[-1,3,224,224] --max-batch-size 32
//   mpsd serve ./bge-small-en ./bge-reranker-base
//   mpsd serve ./bge-small-en --port 9000 --http-port 9001
//   mpsd serve --model-repository /srv/models --explicit
//
// A config without a file is as complete as one that was read. It has no rules of access. Addresses
// and state folder are the defaults unless flags say others. The socket in the state folder is left
// out if its path would be too long for a socket, because a command line cannot name another.
//
// main calls these functions at the start, and the thread `reloader` at a reload, with the same
// arguments. A model file that has changed since gets a new stamp, and so a new generation. The
// functions ask the file system, keep nothing and are thread-safe. A failure at the start ends the
// daemon with exit code 78; at a reload it changes nothing.
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

// Where a daemon looks for a config file that its command line does not name, in this order. `mpsd
// init` writes the first.
inline constexpr std::string_view kConfigPlaces[] = {"mpsd.json", "/etc/mpsd/mpsd.json"};

// The first of `places` that exists, as an absolute path. NOT_FOUND names them all. main calls it
// once: a reload reads the same file again, even if an earlier place has a file by then.
absl::StatusOr<std::string> FindConfig(absl::Span<const std::string_view> places);

struct ModelFlags {
  std::vector<TensorSpec> inputs;  // with whole shapes
  uint32_t max_batch_size = 0;     // 0: not said
  std::string device = "auto";
  std::string name;         // empty: the file's or folder's name
  bool keep_going = false;  // see Config
};

// The config of a daemon that serves these model files or Hugging Face folders, and nothing else. A
// model is named for its file without the suffix, or for its folder; a hub's cache folder gives the
// name in the hub. Characters that a name may not have become '-', and leading ones are dropped. If
// nothing is left the name is "model".
//
// Inputs, a batch size and a name apply to the only file; the device applies to all files. The
// shapes of `inputs` are whole, unlike those of a config. If the first dim of every input is -1,
// the model batches up to `max_batch_size` rows (0: 64), and its ModelSpec leaves that dim out.
// Without inputs the file says them. The worker refuses a name that the file does not know: a
// person who types a name means an argument. A config file may give arguments other names.
//
// NOT_FOUND if a file is missing, or a folder has no config.json or no weights. INVALID_ARGUMENT
// for a suffix that tells no format, an unknown device or an invalid name. The same for inputs if
// only some begin with -1, and for a batch size if none does. The same for inputs, a batch size or
// a name beside several files, for files whose models would have the same name, and for more than
// kMaxModels files. REQUIRES: there is a file.
absl::StatusOr<Config> ConfigFromModelFiles(const std::vector<std::string>& files,
                                            const ModelFlags& flags);

// The config of a daemon that serves a model repository and nothing else: the same as the config
// file {"model_repository": "/srv/models"}. It serves all models there; with `explicit_control` it
// serves only those that clients load with RepositoryModelLoad. ModelRepository reads the folder
// later. NOT_FOUND if there is no such folder.
absl::StatusOr<Config> ConfigFromRepository(const std::string& folder, bool explicit_control);

// The addresses that `serve` has flags for, where there is no config file.
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

// Sets the addresses as the flags say. With another gRPC port the name of the state folder includes
// the port, so that a second daemon can run beside the first. INVALID_ARGUMENT names the flag if
// the host is no name or address, or if other hosts can reach it without `plaintext`. REQUIRES: a
// function above made `config`.
absl::Status SetAddresses(const ListenFlags& flags, Config* config);

}  // namespace mpsd
