#include "client/tune/trial.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/bench/knee_search.h"
#include "client/bench/load_meter.h"
#include "client/tune/private_daemon.h"

namespace mpsd::tune {
namespace {

constexpr double kFirstOfBest = 0.7;  // the search begins at this part of the clients' rate
constexpr double kTolerance = 0.1;
constexpr uint32_t kMostLoads = 7;
constexpr uint32_t kFewestClients = 8;
constexpr uint32_t kMostClients = 128;
constexpr uint32_t kMostRows = 16;  // in a lane's batch, for ManyClients()
constexpr absl::Duration kMeterLimit = absl::Seconds(20);
constexpr double kVerifiedLoads = 3;
constexpr double kVerifiedParts[] = {0.9, 0.8, 0.7};  // parts of the knee
constexpr int kBoundsOfLoad = 10;
constexpr absl::Duration kLongestLoad = absl::Seconds(30);

absl::StatusOr<std::unique_ptr<PrivateDaemon>> StartDaemon(const TrialSetup& setup,
                                                           const TuneConfig& config,
                                                           const Candidate& candidate) {
  PrivateDaemonOptions options{.program = setup.program,
                               .model = config.model(),
                               .config = {},
                               .start_limit = setup.start_limit,
                               .stop = setup.stop};
  options.config = [&](absl::string_view folder) { return config.PrivateText(candidate, folder); };
  return PrivateDaemon::Start(options);
}

absl::StatusOr<std::unique_ptr<bench::LoadMeter>> Meter(const TrialSetup& setup,
                                                        const PrivateDaemon& daemon) {
  return bench::LoadMeter::Connect({.address = daemon.address(),
                                    .connection = {},
                                    .model = daemon.model().name,
                                    .requests = setup.requests,
                                    .timeout = kMeterLimit});
}

void Describe(const client::ModelStatus& model, Trial* trial) {
  trial->device = model.device;
  trial->processes = static_cast<uint32_t>(model.workers.size());
  trial->lanes = model.lanes / std::max(trial->processes, 1U);
  trial->max_batch_size = model.max_batch_size;
}

// The error says why there is none.
absl::Status FindKnee(const TrialSetup& setup, bench::LoadMeter* meter, Trial* trial) {
  const auto one = meter->Measure({.clients = 1}, setup.duration, &setup.slo);
  if (!one.ok()) return one.status();
  const std::string fault = LoadFault(*one);
  if (!fault.empty()) return absl::FailedPreconditionError(fault);
  trial->state = TrialState::kTooSlow;
  if (IsHopeless(*one, setup.slo)) {
    trial->reason = absl::StrCat("one client alone: p50 ", bench::LatencyText(one->p50_ns));
    return absl::OkStatus();
  }
  if (setup.stop()) return absl::CancelledError("it was told to stop");
  const uint32_t clients = ManyClients(trial->processes * trial->lanes, trial->max_batch_size);
  const auto many = meter->Measure({.clients = clients}, setup.duration, &setup.slo);
  if (!many.ok()) return many.status();
  const double most = std::max({one->answered, many->answered, 1.0});
  bench::KneeSearch search(
      {.first = kFirstOfBest * most, .tolerance = kTolerance, .loads_max = kMostLoads});
  auto knee = meter->FindKnee(
      setup.slo, &search, setup.duration, [&] { return !setup.stop(); },
      [](const bench::LoadPoint&) {});
  if (!knee.ok()) return knee.status();
  trial->knee = *std::move(knee);
  trial->state = trial->knee ? TrialState::kMet : TrialState::kTooSlow;
  if (!trial->knee) trial->reason = "no rate meets the SLO";
  return absl::OkStatus();
}

}  // namespace

absl::Duration LoadDuration(absl::Duration wanted, const bench::Slo& slo) {
  return std::max(wanted, std::min(absl::Nanoseconds(slo.bound_ns) * kBoundsOfLoad, kLongestLoad));
}

uint32_t ManyClients(uint32_t lanes, uint32_t max_batch_size) {
  const uint32_t rows = std::clamp(max_batch_size, 1U, kMostRows);
  return std::clamp(2 * lanes * rows, kFewestClients, kMostClients);
}

std::string LoadFault(const bench::LoadPoint& point) {
  if (point.answered > 0 || point.errors.empty()) return "";
  std::string text = "no request is answered:";
  for (const auto& [name, count] : point.errors) absl::StrAppend(&text, " ", count, " ", name);
  return text;
}

bool IsHopeless(const bench::LoadPoint& one_client, const bench::Slo& slo) {
  return slo.quantile >= 0.5 && one_client.p50_ns > slo.bound_ns;
}

Trial RunTrial(const TrialSetup& setup, const TuneConfig& config, const Candidate& candidate) {
  Trial trial{.candidate = candidate};
  const auto daemon = StartDaemon(setup, config, candidate);
  absl::Status status = daemon.status();
  TrialState failed = TrialState::kFailed;
  if (daemon.ok()) {
    Describe((*daemon)->model(), &trial);
    const auto meter = Meter(setup, **daemon);
    if (absl::IsInvalidArgument(meter.status())) failed = TrialState::kWrongRequests;
    status = meter.ok() ? FindKnee(setup, meter->get(), &trial) : meter.status();
  }
  if (!status.ok()) {
    trial.state = failed;
    trial.reason = std::string(status.message());
  }
  return trial;
}

absl::StatusOr<bench::LoadPoint> Verify(const TrialSetup& setup, const TuneConfig& config,
                                        double knee) {
  const auto daemon = StartDaemon(setup, config, {});
  if (!daemon.ok()) return daemon.status();
  const auto meter = Meter(setup, **daemon);
  if (!meter.ok()) return meter.status();
  absl::StatusOr<bench::LoadPoint> seen = absl::InternalError("nothing was measured");
  for (const double part : kVerifiedParts) {
    seen = (*meter)->Measure({.rate = part * knee}, setup.duration * kVerifiedLoads, &setup.slo);
    if (!seen.ok() || seen->meets_slo || setup.stop()) break;
  }
  return seen;
}

}  // namespace mpsd::tune
