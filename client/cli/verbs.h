// verbs: the verbs of `mpsd` that talk to a running daemon or a hub, for main()'s command line.
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
//   return mpsd::cli::EndOfOutput(mpsd::cli::ParseAndRun(app, argc, argv, &exit_code));
//
// Each verb is a subcommand whose callback does the work during parsing. It writes to stdout and
// stderr, and sets `*exit_code` (exit_code.h). All are called on main's thread.
//
// Only this file of the folder knows the names of flags. A verb gets a struct of options and two
// streams (infer_verb.h, ps_verb.h, …), so tests run verbs without a command line. The daemon's own
// verbs, such as `serve`, are in server/main.cc; `app` may have both.
//
// `exit_code` outlives `app`, and `app` owns the options.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"
#include "client/cli/inspect_verb.h"

namespace mpsd::cli {

// infer MODEL --input NAME=@FILE.npy|random | --text TEXT ...: one request, and its answer.
// Repeatable options take one value each time, even one that begins with a dash.
void AddInferVerb(CLI::App& app, int* exit_code);

// ps [MODEL] [--why] [--json]: the models and workers of a daemon.
void AddPsVerb(CLI::App& app, int* exit_code);

// list: the models that a server of the protocol knows.
void AddListVerb(CLI::App& app, int* exit_code);

// bench MODEL [--clients N,…] [--rate R,…] [--slo p99=20ms]: latency and rate under load.
void AddBenchVerb(CLI::App& app, int* exit_code);

// tune MODEL --slo p99=20ms [--output FILE]: finds the config with which a model serves the most,
// with its own daemons.
void AddTuneVerb(CLI::App& app, int* exit_code);

// forgive MODEL [--json]: has a model accept again the contents that crashed its workers.
void AddForgiveVerb(CLI::App& app, int* exit_code);

// embed TEXT …, rerank QUERY TEXT … and tokenize TEXT …: a model's results for texts, over HTTP.
void AddTextVerbs(CLI::App& app, int* exit_code);

// pull ORG/NAME, models and rm ORG/NAME, which need no daemon: models from a hub in this host's
// cache.
void AddHubVerbs(CLI::App& app, int* exit_code);

// inspect FILE and init FILE, which need no daemon: a model file's inputs and outputs, and a config
// for it. `tokenizer_of` is the daemon's, and reports a folder's tokenizer.
void AddInspectVerbs(CLI::App& app, const TokenizerTeller& tokenizer_of, int* exit_code);

// completion SHELL and man [VERB]: of all verbs that `app` has. `schema` is config/schema.json, and
// outlives `app`.
void AddManualVerbs(CLI::App& app, absl::string_view schema, int* exit_code);

// Checks of an option's value, for CLI11. They refuse what is no number from `least` to `most`, and
// say these bounds; nothing above `least` is said where `most` is the type's largest.
CLI::Validator WholeNumber(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());
CLI::Validator AnyNumber(double least, double most);

// Lines that show how the verb is used, for its help and its manual page.
void SetExamples(CLI::App* verb, absl::string_view lines);

// help [VERB]: the same as --help of the application or of that verb.
void AddHelpVerb(CLI::App& app);

// Parses the command line, and so runs its verb. Returns `*exit_code` as the verb left it; kExitOk
// after --help; kExitUsage, with the reason on stderr, for a wrong command line, without running a
// verb. For an unknown first word it suggests the nearest verb, without any word it shows the help.
// To be called before any call of gRPC, whose own lines on stderr it turns off.
int ParseAndRun(CLI::App& app, int argc, const char* const* argv, const int* exit_code);

// Empties the buffers of stdout. Returns kExitCannotWrite in place of kExitOk, with the reason on
// stderr, if stdout has not taken all that was written.
int EndOfOutput(int exit_code);

}  // namespace mpsd::cli
