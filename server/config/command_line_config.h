// CommandLineConfig: the config of a daemon that has no config file. Its command line names a model
// or a folder instead:
//
//   mpsd serve resnet.pt --input x:FP32[-1,3,224,224] --max-batch-size 32
//   mpsd serve --model-repository /srv/models --explicit
//
// Such a config is as complete as one that was read from a file. It listens on the default
// addresses, has the default state folder and sets no rules of access. The socket in the state
// folder is left out where its path would be too long for a socket: a command line cannot name
// another.
//
// main calls these functions at the start. At a reload the thread `reloader` calls them once more
// with the same arguments: a model file that has changed since gets a new stamp, and so a new
// generation. They ask the file system, keep nothing and are thread-safe. A failure at the start
// ends the daemon with exit code 78; at a reload it changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/link/model_spec.h"
#include "server/config/config.h"

namespace mpsd {

// The config of a daemon that serves one model file and nothing else. The model is named for the
// file without its suffix: characters that a name may not have become '-', and those before the
// first letter or digit go. "model" where nothing is left.
//
// The shapes of `inputs` are whole, unlike those of a config: if the first dim of all of them is -1
// the model batches, up to `max_batch_size` rows (0: 64), and a ModelSpec leaves that dim out.
// Without inputs the file says them.
//
// NOT_FOUND where there is no such file. INVALID_ARGUMENT for a suffix that tells no format, for
// inputs of which only some begin with -1, and for a batch size where none does.
absl::StatusOr<Config> ConfigFromModelFile(const std::string& model_file,
                                           std::vector<TensorSpec> inputs, uint32_t max_batch_size);

// The config of a daemon that serves a model repository and nothing else. All models in it are
// served; if `explicit_control` none is, until clients load them with RepositoryModelLoad. The
// folder's contents are read later, by ModelRepository. NOT_FOUND where there is no such folder.
absl::StatusOr<Config> ConfigFromRepository(const std::string& folder, bool explicit_control);

}  // namespace mpsd
