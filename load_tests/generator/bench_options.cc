#include "load_tests/generator/bench_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "load_tests/options/duration_option.h"

namespace mpsd::load {
namespace {

using traffic::ArrivalPlan;
using traffic::Expectation;
using traffic::InputPlan;
using traffic::LoadPlan;
using traffic::ParseInputPlan;
using traffic::RequestPlan;
using traffic::Trace;
using traffic::WatchedProcess;

constexpr uint32_t kNearVariants = 8;  // enough that an answer to another request would show

void AddWatched(const std::vector<std::string>& texts, LoadPlan* plan) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    WatchedProcess process;
    process.name = equals == std::string::npos ? text : text.substr(0, equals);
    const std::string number = equals == std::string::npos ? text : text.substr(equals + 1);
    if (!absl::SimpleAtoi(number, &process.pid) || process.pid <= 0) {
      throw CLI::ValidationError("--pid", absl::StrCat("not a process id: '", text, "'"));
    }
    plan->watched.push_back(process);
  }
}

// Reads each "COLUMN=VALUE".
void AddFilters(const std::vector<std::string>& texts, TraceFile* file) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      throw CLI::ValidationError("--where", absl::StrCat("not COLUMN=VALUE: '", text, "'"));
    }
    file->filters.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
}

void CheckPauses(const ArrivalPlan& arrivals) {
  if ((arrivals.on_ns > 0) != (arrivals.off_ns > 0)) {
    throw CLI::ValidationError("--on", "--on and --off must both be above 0");
  }
}

void CheckFrames(const BenchOptions& options) {
  if (!options.frames) return;
  if (!options.plan.arrivals.IsOpen() && options.trace.path.empty()) {
    throw CLI::ValidationError("--frames", "needs --rate or --trace");
  }
  if (!options.plan.connection.tls_ca.empty() || !options.plan.connection.token.empty()) {
    throw CLI::ValidationError("--frames", "goes with neither --tls-ca nor --token-file");
  }
}

void ReadTrace(const TraceFile& file, ArrivalPlan* arrivals) {
  if (file.bin_ns <= 0) throw CLI::ValidationError("--bin", "must be above 0");
  std::ifstream stream(file.path, std::ios::binary);
  const std::string csv(std::istreambuf_iterator<char>(stream), {});
  const absl::StatusOr<Trace> trace = traffic::ParseTrace(csv, file.filters, file.bin_ns);
  if (!trace.ok()) {
    throw CLI::ValidationError(
        "--trace", absl::StrCat(file.path, ": ", std::string(trace.status().message())));
  }
  arrivals->rate = trace->CallsPerSecond();
  arrivals->trace = *trace;
}

// Without the whitespace around the content.
void AddFile(CLI::App* app, const std::string& name, std::string* content,
             const std::string& help) {
  app->add_option_function<std::string>(
         name,
         [content](const std::string& path) {
           std::ifstream stream(path, std::ios::binary);
           content->assign(std::istreambuf_iterator<char>(stream), {});
           absl::StripAsciiWhitespace(content);
         },
         help)
      ->check(CLI::ExistingFile);
}

void AddInputs(const std::vector<std::string>& texts, RequestPlan* plan) {
  for (const std::string& text : texts) {
    const absl::StatusOr<InputPlan> input = ParseInputPlan(text);
    if (!input.ok()) throw CLI::ValidationError("--input", std::string(input.status().message()));
    plan->inputs.push_back(*input);
  }
}

void AddModelFlags(CLI::App* app, BenchOptions* options) {
  app->add_option("--model", options->models, "model name; several share the calls")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--skew", options->skew,
                  "of several models the nth gets a share of 1/n to the power of this")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
}

void AddRequestFlags(CLI::App* app, RequestPlan* requests) {
  app->add_option_function<std::vector<std::string>>(
         "--input", [=](const auto& texts) { AddInputs(texts, requests); },
         "NAME:DTYPE[dims], also NAME:DTYPE[dims]=value or =low..high for the elements; a dim of "
         "-1 takes its size from --lengths; repeat for several inputs")
      ->required()
      ->take_all();
  app->add_option("--lengths", requests->lengths,
                  "sizes of the -1 dims; each request takes one of them at random")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
}

void AddRateFlags(CLI::App* app, ArrivalPlan* arrivals, CLI::Option* rate) {
  app->add_option("--cv", arrivals->cv,
                  "with --rate: the gaps' standard deviation, divided by their mean")
      ->check(CLI::Range(0.1, 10.0))
      ->needs(rate)
      ->capture_default_str();
  app->add_option("--burst", arrivals->burst, "with --rate: calls that arrive together")
      ->check(CLI::Range(1, 65536))
      ->needs(rate)
      ->capture_default_str();
  auto* on = AddDuration(app, "--on", &arrivals->on_ns, "",
                         "with --rate: arrivals for so long, then none for --off, in turn")
                 ->needs(rate);
  auto* off =
      AddDuration(app, "--off", &arrivals->off_ns, "", "see --on; --rate is the mean of both")
          ->needs(on);
  on->needs(off);
}

// For arrivals of an open loop. They exclude the flags in `closed`.
void AddArrivalFlags(CLI::App* app, BenchOptions* options,
                     const std::vector<CLI::Option*>& closed) {
  LoadPlan* plan = &options->plan;
  auto* rate =
      app->add_option("--rate", plan->arrivals.rate, "open loop: calls a second, Poisson arrivals")
          ->check(CLI::Range(traffic::kMinRate, traffic::kMaxRate));
  AddRateFlags(app, &plan->arrivals, rate);
  auto* trace = app->add_option("--trace", options->trace.path,
                                "open loop: a file of CSV with calls by bin, sent again and again")
                    ->check(CLI::ExistingFile)
                    ->excludes(rate);
  AddDuration(app, "--bin", &options->trace.bin_ns, "1s", "with --trace: how long a bin is")
      ->needs(trace);
  app->add_option_function<std::vector<std::string>>(
         "--where", [=](const auto& texts) { AddFilters(texts, &options->trace); },
         "with --trace: COLUMN=VALUE that a row must have; repeatable")
      ->needs(trace)
      ->take_all();
  auto* outstanding =
      app->add_option("--outstanding", plan->outstanding_max, "open loop: calls open at most")
          ->check(CLI::Range(1, 1 << 20))
          ->capture_default_str();
  app->add_flag("--frames", options->frames,
                "open loop: writes HTTP/2 frames itself, which costs this machine far less than "
                "gRPC's client; no TLS, no token");
  for (CLI::Option* option : closed) option->excludes(rate)->excludes(trace)->excludes(outstanding);
}

void AddLoadFlags(CLI::App* app, BenchOptions* options) {
  LoadPlan* plan = &options->plan;
  app->add_option("--target", plan->target, "host:port or unix:/path")->capture_default_str();
  AddFile(app, "--token-file", &plan->connection.token,
          "a file that holds the token to show with each call");
  AddFile(app, "--tls-ca", &plan->connection.tls_ca,
          "with TLS; trusts the authorities in this PEM file");
  app->add_option("--threads", plan->threads, "client threads, each with a queue of its own")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_option("--channels", plan->channels, "connections; at least one a thread")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  auto* closed = app->add_option("--concurrency", plan->concurrency, "closed loop: calls open")
                     ->check(CLI::Range(1, 65536))
                     ->capture_default_str();
  auto* streams = app->add_option("--streams", plan->streams,
                                  "closed loop: this many streams, each on its own connection")
                      ->check(CLI::Range(1, 256));
  auto* count = app->add_option("--requests", plan->request_count,
                                "closed loop: end after that many calls, all of them measured")
                    ->excludes(streams);
  AddArrivalFlags(app, options, {closed, streams, count});
  app->add_option("--seed", plan->seed, "of arrivals, lengths and contents")->capture_default_str();
  AddDuration(app, "--duration", &plan->duration_ns, "10s", "measured time");
  AddDuration(app, "--warmup", &plan->warmup_ns, "1s", "load before it that is not measured");
  AddDuration(app, "--drain", &plan->drain_ns, "10s", "how long to wait for calls still open");
  AddDuration(app, "--connect", &plan->connect_ns, "10s", "how long to wait for the connection");
  AddDuration(app, "--deadline", &plan->deadline_ns, "0", "deadline of each call; 0: none");
  AddDuration(app, "--slo", &plan->slo_ns, "0", "latency that counts as goodput; 0: any");
  AddDuration(app, "--timeline", &plan->timeline_ns, "0",
              "with --json: counts by spans of this length; 0: none");
}

}  // namespace

std::optional<int> ParseCommandLine(int argc, char** argv, BenchOptions* options) {
  CLI::App app("Loads an inference server and reports latency, throughput and what it cost.");
  AddModelFlags(&app, options);
  AddRequestFlags(&app, &options->requests);
  bool identity = false;
  bool near = false;
  bool echo = false;
  try {
    AddLoadFlags(&app, options);
    auto* flag = app.add_flag("--verify-identity", identity, "answers must equal the requests");
    auto* near_flag = app.add_flag("--verify-near", near,
                                   "answers must be FP32 and near the first one to the same "
                                   "request, of which there are eight of each length");
    near_flag->excludes(flag);
    app.add_flag("--echo", echo, "the server is mpsd-echo: answers must be the requests")
        ->excludes(flag)
        ->excludes(near_flag);
    app.add_option_function<std::vector<std::string>>(
           "--pid", [=](const auto& texts) { AddWatched(texts, &options->plan); },
           "report this process's CPU and switches; PID or NAME=PID; repeatable")
        ->take_all();
    app.add_flag("--json", options->json, "print one line of JSON instead of text");
    app.add_flag("--allow-errors", options->allow_errors, "exit 0 even if calls failed");
    app.parse(argc, argv);
    CheckPauses(options->plan.arrivals);
    CheckFrames(*options);
    if (!options->trace.path.empty()) ReadTrace(options->trace, &options->plan.arrivals);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  LoadPlan& plan = options->plan;
  plan.connection.tls = !plan.connection.tls_ca.empty();
  if (identity) plan.expectation = Expectation::kIdentity;
  if (near) plan.expectation = Expectation::kNearFirst;
  if (near) options->requests.variants = kNearVariants;
  if (echo) plan.expectation = Expectation::kEcho;
  plan.threads =
      std::min(plan.threads, plan.arrivals.IsOpen() ? plan.outstanding_max : plan.concurrency);
  if (plan.streams > 0) {
    plan.streams = std::min(plan.streams, plan.concurrency);
    plan.threads = std::min(plan.threads, plan.streams);
  }
  if (plan.request_count > 0) plan.warmup_ns = 0;
  options->requests.seed = plan.seed;
  return std::nullopt;
}

}  // namespace mpsd::load
