// verbs: the verbs of `mpsd` that talk to a running daemon or a hub, for main()'s command line.
//
//   CLI::App app("...");
//   int exit_code = 0;
//   mpsd::cli::AddInferVerb(app, &exit_code);
//   mpsd::cli::AddPsVerb(app, &exit_code);   …
//   mpsd::cli::AddHelpVerb(app);
//   return mpsd::cli::ParseAndRun(app, argc, argv, &exit_code);
//
// A verb is a subcommand whose callback does the work during parsing and sets `*exit_code`. All are
// called on main's thread. Only this file of the folder knows flags: a verb gets a struct of
// options and two streams, so tests need no command line. The daemon's verbs are in server/main.cc.
//
// `exit_code` outlives `app`, and `app` owns the options.
#pragma once

#include <CLI/CLI.hpp>

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

void SetExamples(CLI::App* verb, absl::string_view lines);

// help [VERB]: as --help.
void AddHelpVerb(CLI::App& app);

// Runs the verb. Returns `*exit_code`; kExitOk after --help; kExitUsage, with the reason on stderr,
// for a wrong command line. For an unknown first word it suggests the nearest verb, without any
// word it shows the help.
int ParseAndRun(CLI::App& app, int argc, const char* const* argv, const int* exit_code);

}  // namespace mpsd::cli
