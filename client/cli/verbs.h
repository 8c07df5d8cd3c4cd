// verbs: the verbs of `mpsd` that talk to a running daemon or a hub, for main()'s command line.
//
//   CLI::App app("...");
//   int exit_code = 0;
//   mpsd::cli::AddInferVerb(app, &exit_code);
//   mpsd::cli::AddPsVerb(app, &exit_code);   …
//   mpsd::cli::AddHelpVerb(app);
//   return mpsd::cli::EndOfOutput(mpsd::cli::ParseAndRun(app, argc, argv, &exit_code));
//
// A verb is a subcommand whose callback does the work during parsing and sets `*exit_code`. All are
// called on main's thread. Only this file of the folder knows flags: a verb gets a struct of
// options and two streams, so tests need no command line. The daemon's verbs are in server/main.cc.
//
// `exit_code` outlives `app`, and `app` owns the options.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"
#include "client/cli/inspect_verb.h"

namespace mpsd::cli {

// infer MODEL --input NAME=@FILE.npy|random | --text TEXT ... Repeatable options take one value
// each time, even one that begins with a dash.
void AddInferVerb(CLI::App& app, int* exit_code);

void AddPsVerb(CLI::App& app, int* exit_code);

void AddListVerb(CLI::App& app, int* exit_code);

// bench MODEL [--clients N,…] [--rate R,…] [--slo p99=20ms].
void AddBenchVerb(CLI::App& app, int* exit_code);

// tune MODEL --slo p99=20ms [--output FILE]: with its own daemons.
void AddTuneVerb(CLI::App& app, int* exit_code);

void AddForgiveVerb(CLI::App& app, int* exit_code);

// embed TEXT …, rerank QUERY TEXT … and tokenize TEXT …: over HTTP.
void AddTextVerbs(CLI::App& app, int* exit_code);

// pull ORG/NAME, models and rm ORG/NAME, without a daemon.
void AddHubVerbs(CLI::App& app, int* exit_code);

// inspect FILE and init FILE, without a daemon. `tokenizer_of` reports a folder's tokenizer.
void AddInspectVerbs(CLI::App& app, const TokenizerTeller& tokenizer_of, int* exit_code);

// completion SHELL and man [VERB], for all verbs of `app`. `schema` is config/schema.json, and
// outlives `app`.
void AddManualVerbs(CLI::App& app, absl::string_view schema, int* exit_code);

// Checks of an option's value, for CLI11. They refuse what is no number from `least` to `most`, and
// say these bounds; nothing above `least` is said where `most` is the type's largest.
CLI::Validator WholeNumber(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());
CLI::Validator AnyNumber(double least, double most);

// Lines that show how the verb is used, for its help and its manual page.
void SetExamples(CLI::App* verb, absl::string_view lines);

// help [VERB]: as --help.
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
