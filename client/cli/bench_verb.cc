#include "client/cli/bench_verb.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/bench/bench_report.h"
#include "client/bench/knee_search.h"
#include "client/bench/load_meter.h"
#include "client/cli/exit_code.h"
#include "client/format/named_value.h"
#include "client/format/npy.h"
#include "proto/files/whole_file.h"

namespace mpsd::cli {
namespace {

// The search for the knee starts here, as a share of the best closed loop.
constexpr double kFirstOfBest = 0.7;

absl::Status ReadContents(const std::string& path, bench::InputWish* wish) {
  const absl::StatusOr<std::string> file = ReadWholeFile(path, kMaxNpyBytes);
  if (!file.ok()) return file.status();
  absl::StatusOr<NpyArray> array = ParseNpy(*file);
  if (!array.ok()) {
    return absl::InvalidArgumentError(path + ": " + std::string(array.status().message()));
  }
  wish->contents = std::move(array->bytes);
  wish->shape = array->shape;
  wish->datatype = array->datatype;
  return absl::OkStatus();
}

absl::StatusOr<bench::InputWish> ReadInputWish(const std::string& value) {
  auto [name, rest] = SplitName(value);
  if (name.empty() || (rest.empty() && name != value)) {
    return WrongOption("input", value, "NAME, NAME=3, NAME=0..99 or NAME=@FILE.npy");
  }
  bench::InputWish wish{.name = name};
  if (absl::ConsumePrefix(&rest, "@")) {
    const absl::Status status = ReadContents(std::string(rest), &wish);
    if (!status.ok()) return status;
  } else {
    wish.range = std::string(rest);
  }
  return wish;
}

ExitCode ConnectCode(const absl::Status& status) {
  if (absl::IsInvalidArgument(status)) return kExitUsage;
  return absl::IsUnavailable(status) ? kExitNotReachable : kExitServerError;
}

std::vector<bench::Load> LoadsOf(const BenchOptions& options) {
  std::vector<bench::Load> loads;
  std::vector<uint32_t> clients = options.clients;
  if (clients.empty() && options.rates.empty()) clients = {1, 4, 16, 64};
  for (const uint32_t count : clients) loads.push_back({.clients = count});
  for (const double rate : options.rates) loads.push_back({.rate = rate});
  return loads;
}

// One run of the verb. Lives on one thread.
class BenchRun {
 public:
  BenchRun(const BenchOptions& options, std::unique_ptr<bench::LoadMeter> meter,
           std::optional<bench::Slo> slo, std::ostream& out)
      : meter_(std::move(meter)),
        duration_(absl::Seconds(options.seconds)),
        knee_loads_max_(options.knee_loads_max),
        json_(options.server.json),
        out_(out) {
    report_ = {.address = options.server.address,
               .model = options.model,
               .seconds = options.seconds,
               .slo = slo};
  }

  absl::Status Measure(const std::vector<bench::Load>& loads) {
    if (!json_) out_ << bench::BenchTitles(report_.slo.has_value()) << std::flush;
    for (const bench::Load& load : loads) {
      const auto point = meter_->Measure(load, duration_, report_.slo ? &*report_.slo : nullptr);
      if (!point.ok()) return point.status();
      Keep(*point);
    }
    return report_.slo ? FindKnee() : absl::OkStatus();
  }

  // `ended` may say why the search ended.
  int Finish(const absl::Status& ended, std::ostream& err) {
    std::string rest;  // beside the loads' lines
    if (json_) rest = bench::BenchJson(report_);
    if (!json_ && report_.slo) rest = bench::KneeText(report_);
    const int code = WriteReport(out_, err, rest);
    if (code == kExitOk && !HasAnswers()) {
      return Fail(err, kExitServerError,
                  absl::UnavailableError(absl::StrCat("no request was answered; `mpsd infer ",
                                                      report_.model, "` shows the reason")));
    }
    if (code != kExitOk || !report_.slo || report_.knee) return code;
    const std::string why = ended.ok() ? "" : absl::StrCat("; ", ended.message());
    return Fail(err, kExitServerError,
                absl::ResourceExhaustedError(
                    absl::StrCat("no load meets ", bench::SloText(*report_.slo), why)));
  }

 private:
  bool HasAnswers() const {
    return std::any_of(report_.points.begin(), report_.points.end(),
                       [](const bench::LoadPoint& point) { return point.answered > 0; });
  }

  void Keep(const bench::LoadPoint& point) {
    report_.points.push_back(point);
    if (!json_) out_ << bench::BenchLine(point, report_.slo.has_value()) << std::flush;
  }

  absl::Status FindKnee() {
    double best = 1;
    for (const bench::LoadPoint& point : report_.points) best = std::max(best, point.answered);
    bench::KneeSearch search({.first = kFirstOfBest * best, .loads_max = knee_loads_max_});
    auto knee = meter_->FindKnee(
        *report_.slo, &search, duration_, [] { return true; },
        [this](const bench::LoadPoint& point) { Keep(point); });
    if (!knee.ok()) return knee.status();
    report_.knee = *std::move(knee);
    return absl::OkStatus();
  }

  const std::unique_ptr<bench::LoadMeter> meter_;
  const absl::Duration duration_;
  const uint32_t knee_loads_max_;
  const bool json_;
  std::ostream& out_;
  bench::BenchReport report_;
};

}  // namespace

absl::StatusOr<bench::RequestWishes> ReadRequestWishes(const LoadInputOptions& options) {
  bench::RequestWishes wishes{.rows = options.rows, .lengths = options.lengths};
  wishes.seed = options.seed;
  std::map<std::string, Dims> shapes;
  for (const std::string& value : options.shapes) {
    const auto shape = ParseShape(value);
    if (!shape.ok()) return shape.status();
    shapes.insert(*shape);
  }
  for (const std::string& value : options.inputs) {
    absl::StatusOr<bench::InputWish> wish = ReadInputWish(value);
    if (!wish.ok()) return wish.status();
    wishes.inputs.push_back(*std::move(wish));
  }
  for (const auto& [name, dims] : shapes) {
    const auto wish =
        std::find_if(wishes.inputs.begin(), wishes.inputs.end(),
                     [&wanted = name](const auto& input) { return input.name == wanted; });
    if (wish == wishes.inputs.end() || !wish->contents.empty()) {
      return WrongOption("shape", name, "an input of --input without a file");
    }
    wish->shape = dims;
  }
  return wishes;
}

int RunBench(const BenchOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<absl::Duration> timeout = ParseTimeout(options.server);
  if (!timeout.ok()) return Fail(err, kExitUsage, timeout.status());
  std::optional<bench::Slo> slo;
  if (!options.slo.empty()) {
    const absl::StatusOr<bench::Slo> parsed = bench::ParseSlo(options.slo);
    if (!parsed.ok()) return Fail(err, kExitUsage, parsed.status());
    slo = *parsed;
  }
  const auto wishes = ReadRequestWishes(options.requests);
  if (!wishes.ok()) {
    const bool usage = absl::IsInvalidArgument(wishes.status());
    return Fail(err, usage ? kExitUsage : kExitNoInput, wishes.status());
  }
  const auto connection = ReadConnectOptions(options.server);
  if (!connection.ok()) return Fail(err, kExitNoInput, connection.status());
  // A server queues requests without a deadline in another way, so only a wish gives them one.
  const bool has_wish = options.server.timeout != ServerOptions().timeout;
  auto meter = bench::LoadMeter::Connect({.address = options.server.address,
                                          .connection = *connection,
                                          .model = options.model,
                                          .requests = *wishes,
                                          .timeout = *timeout,
                                          .deadline = has_wish ? *timeout : absl::ZeroDuration()});
  if (!meter.ok()) return Fail(err, ConnectCode(meter.status()), meter.status());
  BenchRun run(options, *std::move(meter), slo, out);
  const absl::Status measured = run.Measure(LoadsOf(options));
  const bool is_told = measured.ok() || absl::IsFailedPrecondition(measured);
  return is_told ? run.Finish(measured, err) : Fail(err, ConnectCode(measured), measured);
}

}  // namespace mpsd::cli
