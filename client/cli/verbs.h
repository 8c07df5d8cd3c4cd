// verbs: the verbs of `mpsd` that talk to a running daemon, for main() to add to its command line.
//
//   CLI::App app("...");
//   int exit_code = 0;
//   mpsd::cli::AddInferVerb(app, &exit_code);
//   mpsd::cli::AddPsVerb(app, &exit_code);
//   mpsd::cli::AddInspectVerbs(app, &exit_code);
//   return mpsd::cli::ParseAndRun(app, argc, argv, &exit_code);
//
// Each verb is a subcommand whose callback does the work while the command line is parsed. It
// writes to stdout and stderr, and sets `*exit_code` (exit_code.h). All are called on main's
// thread.
#pragma once

#include <CLI/CLI.hpp>

namespace mpsd::cli {

// infer MODEL --input NAME=@FILE.npy|random | --text TEXT ...
void AddInferVerb(CLI::App& app, int* exit_code);

// ps [--json]
void AddPsVerb(CLI::App& app, int* exit_code);

// inspect FILE and init FILE, which need no daemon.
void AddInspectVerbs(CLI::App& app, int* exit_code);

// Parses the command line, which runs the verb that it names. Returns `*exit_code` as the verb left
// it, or kExitUsage, with the reason on stderr, when the command line is wrong.
int ParseAndRun(CLI::App& app, int argc, const char* const* argv, const int* exit_code);

}  // namespace mpsd::cli
