#include "load_tests/bars/bars_options.h"

#include <CLI/CLI.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "load_tests/options/duration_option.h"
#include "proto/base/limits.h"

namespace mpsd::load {
namespace {

constexpr int kExitUsage = 64;

// "31x100": 31 lanes, 100 rounds.
std::pair<uint32_t, uint64_t> ReadRounds(const std::string& text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('x', 1));
  std::pair<uint32_t, uint64_t> read;
  if (!absl::SimpleAtoi(parts.first, &read.first) ||
      !absl::SimpleAtoi(parts.second, &read.second) || read.first == 0 || read.first > kMaxLanes ||
      read.second == 0) {
    throw CLI::ValidationError("--rounds", absl::StrCat("not LANESxROUNDS: '", text, "'"));
  }
  return read;
}

BarOperator ReadOperator(const std::string& text) {
  const std::optional<BarOperator> found = FromName<BarOperator>(text);
  if (!found.has_value()) {
    throw CLI::ValidationError("--operators", absl::StrCat("there is no operator '", text, "'"));
  }
  return *found;
}

void AddBarFlags(CLI::App* app, BarsOptions* options) {
  app->add_option("--only", options->parts, "of rounds, soak, threads, processes (default all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"rounds", "soak", "threads", "processes"}));
  app->add_option_function<std::vector<std::string>>(
         "--operators",
         [options](const auto& texts) {
           for (const std::string& text : texts) options->operators.push_back(ReadOperator(text));
         },
         "of the rounds and the soak: of linear, addmm, layer_norm, sdpa, attention, mlp, conv "
         "(default all)")
      ->delimiter(',');
  app->add_option_function<std::vector<std::string>>(
         "--rounds",
         [options](const auto& texts) {
           for (const std::string& text : texts) options->rounds.push_back(ReadRounds(text));
         },
         "LANESxROUNDS, each operator once a round (default 31x100,8x100,16x50)")
      ->delimiter(',');
  options->soak_operations = 2'000'000;
  app->add_option("--soak", options->soak_operations, "operations of the soak, of all its lanes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--soak-lanes", options->soak_lanes, "lanes of the soak")
      ->check(CLI::Range(1U, kMaxLanes))
      ->capture_default_str();
  app->add_option("--counts", options->counts, "of lanes and of processes (default 1,2,4,8)")
      ->delimiter(',')
      ->check(CLI::Range(1U, kMaxLanes));
}

void FillDefaults(BarsOptions* options) {
  if (options->parts.empty()) options->parts = {"rounds", "soak", "threads", "processes"};
  if (options->operators.empty()) options->operators = AllBarOperators();
  if (options->rounds.empty()) options->rounds = {{31, 100}, {8, 100}, {16, 50}};
  if (options->counts.empty()) options->counts = {1, 2, 4, 8};
}

}  // namespace

std::optional<int> ParseCommandLine(int argc, char** argv, BarsOptions* options) {
  CLI::App app("Many lanes at once on one device, each answer compared with what one gives alone.");
  // The last one counts, so that scripts can put their options before a person's.
  app.add_option("--device", options->device, "cpu, cuda, cuda:0, mps")
      ->take_last()
      ->capture_default_str();
  AddBarFlags(&app, options);
  AddDuration(&app, "--seconds", &options->scaling_ns, "2s", "time of each rate that is compared");
  AddDuration(&app, "--limit", &options->limit_ns, "10m",
              "the rounds and the soak end then, and fail if they are not through");
  app.add_option("--seed", options->seed, "of inputs and of the soak's order")
      ->capture_default_str();
  app.add_option("--faults", options->faults_max, "wrong answers after which a bar stops")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--report", options->report, "a file that gets the report as JSON")->take_last();
  app.add_option("--run", options->run)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  FillDefaults(options);
  return std::nullopt;
}

}  // namespace mpsd::load
