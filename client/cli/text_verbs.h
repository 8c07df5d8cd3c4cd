// text_verbs: the verbs `embed`, `rerank` and `tokenize`, over a server's HTTP routes for texts
// (docs/http.md).
//
//   1. the options are checked                                  kExitUsage
//   2. the texts are read                                       kExitNoInput
//   3. Connect: files of credentials, then the server           kExitNoInput, kExitNotReachable
//   4. the model is found where none is named, and waited for   kExitServerError, kExitUsage
//      while it loads
//   5. the texts are sent, kMostRequestRows at most at a time   kExitServerError
//   6. report                                                   kExitCannotWrite
//
// A request is repeated only while the model still loads. Stderr also names the model that was
// found or is awaited, and counts texts that were cut.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// Unchecked; filled by verbs.cc.
struct TextOptions {
  ServerOptions server;
  std::string model;  // empty: the task's only one
  std::vector<std::string> texts;
  std::string file;          // further texts, one a line; "-": stdin
  std::string output_file;   // empty: stdout
  std::string wait = "60s";  // for a loading model
  bool npy = false;          // for `embed`: an array instead of a table
};

struct EmbedOptions : TextOptions {
  std::string prompt;  // a prompt's name; empty: the model's default
};

struct RerankOptions : TextOptions {
  std::string query;
  size_t top_count = 0;  // 0: all
};

// On a terminal stderr shows progress, and stdout takes no .npy.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// A table, JSON or .npy. Connecting and each request may take `timeout`. Thread-safe, as the
// others.
int RunEmbed(const EmbedOptions& options, const Console& console);

// The best document comes first: a table or JSON.
int RunRerank(const RerankOptions& options, const Console& console);

// The tokens are uncut: a table or JSON. The model may have any task.
int RunTokenize(const TextOptions& options, const Console& console);

}  // namespace mpsd::cli
