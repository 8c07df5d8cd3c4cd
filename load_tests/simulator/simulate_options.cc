#include "load_tests/simulator/simulate_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "load_tests/options/duration_option.h"

namespace mpsd::load {
namespace {

// Reads "1=850us,64=7.7ms".
void ReadCurve(const std::vector<std::string>& texts, std::map<uint32_t, double>* batch_ns) {
  for (const std::string& text : texts) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
    uint32_t rows = 0;
    if (!absl::SimpleAtoi(parts.first, &rows) || rows == 0) {
      throw CLI::ValidationError("--curve", "not ROWS=TIME: '" + text + "'");
    }
    (*batch_ns)[rows] = static_cast<double>(DurationNs(parts.second));
  }
  if (batch_ns->count(1) == 0) throw CLI::ValidationError("--curve", "a batch of 1 is missing");
}

void AddLoadFlags(CLI::App* app, SimulatedLoad* load) {
  auto* clients = app->add_option("--clients", load->clients, "closed loop: so many clients")
                      ->check(CLI::Range(1, 65536));
  auto* rate = app->add_option("--rate", load->requests_per_s, "Poisson arrivals a second")
                   ->check(CLI::PositiveNumber)
                   ->excludes(clients);
  AddDuration(app, "--deadline", &load->deadline_ns, "", "of each request (default none)");
  AddDuration(app, "--return", &load->return_ns, "0",
              "from an answer to its client's next request, beside the door");
  AddDuration(app, "--duration", &load->length_ns, "10s", "virtual time that is counted");
  app->callback([clients, rate] {
    if (clients->empty() && rate->empty()) throw CLI::RequiredError("--clients or --rate");
  });
}

void AddPoolFlags(CLI::App* app, SimulatedPool::Options* pool) {
  app->add_option("--lanes", pool->lanes, "lanes of the model")
      ->check(CLI::Range(1, 2048))
      ->capture_default_str();
  app->add_option("--max-batch", pool->max_batch_rows, "the most rows of a batch")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  pool->queue_requests = 256;
  app->add_option("--queue", pool->queue_requests, "requests that may wait")->capture_default_str();
  app->add_option("--noise", pool->noise, "a batch takes up to this share more or less")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  AddDuration(app, "--door", &pool->door_ns, "0",
              "of client and front end for a request and its answer, one at a time");
  AddDuration(app, "--lag", &pool->lag_ns, "0", "of an answer on its way to its client");
  app->add_flag_callback(
      "--eager", [pool] { pool->knows = false; },
      "a free lane takes what there is, and nobody is refused in advance");
  app->add_option("--seed", pool->seed, "of all that is random")->capture_default_str();
}

void AddClairvoyance(CLI::App* app, SimulateOptions* options) {
  app->add_flag("--clairvoyant", options->is_clairvoyant,
                "the most that any schedule of one lane could answer in time, if it knew all "
                "arrivals beforehand and nothing beside batches took time")
      ->needs("--rate")
      ->needs("--deadline")
      ->excludes("--lanes");
}

}  // namespace

std::optional<int> ParseCommandLine(int argc, char** argv, SimulateOptions* options) {
  CLI::App app("Says what a model's scheduler makes of a load, in virtual time.");
  app.add_option_function<std::vector<std::string>>(
         "--curve", [=](const auto& texts) { ReadCurve(texts, &options->batch_ns); },
         "what batches take: ROWS=TIME,ROWS=TIME")
      ->delimiter(',')
      ->required();
  AddLoadFlags(&app, &options->load);
  AddPoolFlags(&app, &options->pool);
  AddDuration(&app, "--learning", &options->learning_ns, "1s",
              "the same load before, which is not counted");
  AddDuration(&app, "--max-delay", &options->max_delay_ns, "",
              "how long a free lane waits for a full batch (default: as long as pays)");
  AddClairvoyance(&app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return std::nullopt;
}

TrueCurve CurveOf(const SimulateOptions& options) {
  return [batch_ns = options.batch_ns](uint32_t rows) {
    const auto high = batch_ns.lower_bound(rows);
    if (high == batch_ns.end()) {
      const auto& [largest, ns] = *batch_ns.rbegin();
      return ns * rows / largest;
    }
    if (high->first == rows) return high->second;
    const auto low = std::prev(high);
    const double share =
        static_cast<double>(rows - low->first) / static_cast<double>(high->first - low->first);
    return low->second + share * (high->second - low->second);
  };
}

}  // namespace mpsd::load
