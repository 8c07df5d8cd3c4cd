// text_verbs: the verbs `embed`, `rerank` and `tokenize`: send texts to a running server's HTTP
// routes for texts (docs/http.md). These know what a model makes of texts, and cut, batch and count
// by the server's config.
//
// The steps, and the exit code of a failure in each:
//
//   1. the options are checked                                  kExitUsage
//   2. the texts are read                                       kExitNoInput
//   3. Connect: files of credentials, then the server           kExitNoInput, kExitNotReachable
//   4. the model is found where none is named, and waited for   kExitServerError, kExitUsage
//      while it loads
//   5. the texts are sent, kMostRequestRows at most at a time   kExitServerError
//   6. report                                                   kExitCannotWrite
//
// The report comes when all texts are answered. A request is repeated only if the model refused it
// because it still loads. Besides errors, stderr shows the model that was found or is waited for,
// and how many texts the server has cut. A terminal also shows the progress of lists with more than
// one request.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// The options as on the command line, unchecked: verbs.cc fills them.
struct TextOptions {
  ServerOptions server;
  std::string model;  // empty: the task's only one
  std::vector<std::string> texts;
  std::string file;          // further texts, one a line; "-": stdin
  std::string output_file;   // empty: stdout
  std::string wait = "60s";  // for a loading model
  bool npy = false;          // an array instead of a table; only for `embed`
};

struct EmbedOptions : TextOptions {
  std::string prompt;  // a prompt's name; empty: the model's default
};

struct RerankOptions : TextOptions {
  std::string query;
  size_t top_count = 0;  // 0: all
};

// A verb's outputs. On a terminal stderr shows progress, and stdout takes no .npy.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// The vectors of texts: a table, JSON or .npy. Returns an ExitCode. Connecting and each request may
// take the option `timeout`. Thread-safe, as the others.
int RunEmbed(const EmbedOptions& options, const Console& console);

// The texts as documents, the query's best first: a table or JSON.
int RunRerank(const RerankOptions& options, const Console& console);

// The tokens of texts, uncut: a table or JSON. The model may have any task.
int RunTokenize(const TextOptions& options, const Console& console);

}  // namespace mpsd::cli
