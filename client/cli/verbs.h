// verbs: the verbs of `mpsd` that talk to a running daemon, for main() to add to its command line.
//
//   CLI::App app("...");
//   int exit_code = 0;
//   mpsd::cli::AddInferVerb(app, &exit_code);
//   mpsd::cli::AddPsVerb(app, &exit_code);
//   mpsd::cli::AddListVerb(app, &exit_code);
//   mpsd::cli::AddBenchVerb(app, &exit_code);
//   mpsd::cli::AddTuneVerb(app, &exit_code);
//   mpsd::cli::AddForgiveVerb(app, &exit_code);
//   mpsd::cli::AddTextVerbs(app, &exit_code);
//   mpsd::cli::AddHubVerbs(app, &exit_code);
//   mpsd::cli::AddInspectVerbs(app, TokenizerOf, &exit_code);
//   mpsd::cli::AddManualVerbs(app, kConfigSchema, &exit_code);
//   mpsd::cli::AddHelpVerb(app);
//   return mpsd::cli::ParseAndRun(app, argc, argv, &exit_code);
//
// Each verb is a subcommand whose callback does the work while the command line is parsed. It
// writes to stdout and stderr, and sets `*exit_code` (exit_code.h). All are called on main's
// thread.
//
// This is the only file of the folder that knows the names of flags: a verb gets a struct of
// options and two streams (infer_verb.h, ps_verb.h, …), so tests run verbs without a
// command line. The daemon's own verbs, such as `serve`, are server/main.cc's; `app` may have both.
//
// `exit_code` outlives `app`, and `app` owns the options.
#pragma once

#include <CLI/CLI.hpp>

#include "absl/strings/string_view.h"
#include "client/cli/inspect_verb.h"

namespace mpsd::cli {

// infer MODEL --input NAME=@FILE.npy|random | --text TEXT ...: one request, and its answer. Options
// that may be repeated take one value each time, even a value that begins with a dash.
void AddInferVerb(CLI::App& app, int* exit_code);

// ps [MODEL] [--why] [--json]: the models and workers of a daemon.
void AddPsVerb(CLI::App& app, int* exit_code);

// list: the models that a server of the protocol knows.
void AddListVerb(CLI::App& app, int* exit_code);

// bench MODEL [--clients N,…] [--rate R,…] [--slo p99=20ms]: latency and rate under load.
void AddBenchVerb(CLI::App& app, int* exit_code);

// tune MODEL --slo p99=20ms [--output FILE]: the config with which a model serves the most, found
// with daemons of its own.
void AddTuneVerb(CLI::App& app, int* exit_code);

// forgive MODEL [--json]: has a model take again the contents that crashed its workers.
void AddForgiveVerb(CLI::App& app, int* exit_code);

// embed TEXT …, rerank QUERY TEXT … and tokenize TEXT …: what a model makes of texts, over HTTP.
void AddTextVerbs(CLI::App& app, int* exit_code);

// pull ORG/NAME, models and rm ORG/NAME, which need no daemon: models from a hub, kept on this
// host.
void AddHubVerbs(CLI::App& app, int* exit_code);

// inspect FILE and init FILE, which need no daemon: what a model file takes and gives, and a config
// that serves it. `tokenizer_of` is the daemon's, and tells of a folder's tokenizer.
void AddInspectVerbs(CLI::App& app, const TokenizerTeller& tokenizer_of, int* exit_code);

// completion SHELL and man [VERB]: of all verbs that `app` has. `schema` is config/schema.json, and
// outlives `app`.
void AddManualVerbs(CLI::App& app, absl::string_view schema, int* exit_code);

// Lines that show how the verb is used, for its help and its manual page.
void SetExamples(CLI::App* verb, absl::string_view lines);

// help [VERB]: the same as --help of the application or of that verb.
void AddHelpVerb(CLI::App& app);

// Parses the command line, which runs the verb that it names. Returns `*exit_code` as the verb left
// it; kExitOk after --help; kExitUsage, with the reason on stderr, when the command line is wrong,
// in which case no verb ran. A first word that is no verb is answered with the nearest one, no word
// at all with the help.
int ParseAndRun(CLI::App& app, int argc, const char* const* argv, const int* exit_code);

}  // namespace mpsd::cli
