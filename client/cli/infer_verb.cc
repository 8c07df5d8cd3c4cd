#include "client/cli/infer_verb.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/file.h"
#include "client/cli/infer_inputs.h"
#include "client/cli/infer_plan.h"
#include "client/cli/infer_report.h"
#include "client/cli/wordpiece.h"
#include "client/client.h"
#include "proto/base/clock.h"

namespace mpsd::cli {
namespace {

// The failure of a step: its error, and the verb's exit code.
struct Failure {
  ExitCode code = kExitOk;
  absl::Status status;

  explicit operator bool() const { return !status.ok(); }
};

// One run of the verb; each step leaves what the next one needs. Lives on one thread.
class InferRun {
 public:
  InferRun(const InferOptions& options, InferPlan plan)
      : options_(options), plan_(std::move(plan)) {}

  Failure ReadFiles();
  Failure Connect();
  Failure MakeInputs();
  Failure Infer();
  Failure KeepOutputs() const;

  std::string Report() const {
    return options_.server.json ? ReportJson(reply_, rows_, latency_ms_)
                                : ReportText(reply_, rows_, latency_ms_);
  }

 private:
  absl::Time Deadline() const { return absl::Now() + plan_.timeout; }

  // Finds the vocabulary that the model's parameters name.
  Failure FindVocab(std::string* path) const;
  Failure MakeTextInputs(const client::ModelMetadata& metadata);

  const InferOptions& options_;
  const InferPlan plan_;
  std::vector<NpyArray> files_;
  std::unique_ptr<client::Client> client_;
  std::vector<NamedArray> arrays_;
  TextRows rows_;
  client::InferReply reply_;
  double latency_ms_ = 0;
};

Failure InferRun::ReadFiles() {
  auto files = ReadInputFiles(plan_);
  if (!files.ok()) return {kExitNoInput, files.status()};
  files_ = *std::move(files);
  return {};
}

Failure InferRun::Connect() {
  ExitCode code = kExitOk;
  auto client = cli::Connect(options_.server, Deadline(), &code);
  if (!client.ok()) return {code, client.status()};
  client_ = *std::move(client);
  return {};
}

// Whether the server is not mpsd, or is mpsd on another host.
bool KeepsStatusToItself(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnimplemented ||
         status.code() == absl::StatusCode::kPermissionDenied;
}

Failure InferRun::FindVocab(std::string* path) const {
  *path = options_.vocab;
  if (!path->empty()) return {};
  const auto daemon = client_->GetDaemonStatus(Deadline());
  if (!daemon.ok() && !KeepsStatusToItself(daemon.status())) {
    return {kExitServerError, daemon.status()};
  }
  if (daemon.ok()) {
    for (const client::ModelStatus& model : daemon->models) {
      const auto vocab = model.parameters.find("vocab");
      if (model.name == options_.model && vocab != model.parameters.end()) *path = vocab->second;
    }
  }
  if (!path->empty()) return {};
  return {kExitUsage, absl::NotFoundError(absl::StrCat("the server names no vocabulary for model '",
                                                       options_.model, "': say --vocab FILE"))};
}

Failure InferRun::MakeTextInputs(const client::ModelMetadata& metadata) {
  std::string path;
  if (Failure failure = FindVocab(&path)) return failure;
  const absl::StatusOr<WordPiece> pieces = WordPiece::ReadFile(path);
  if (!pieces.ok()) return {kExitNoInput, pieces.status()};
  rows_.texts = options_.texts;
  auto arrays = TextInputs(options_.texts, *pieces, metadata, &rows_.token_counts);
  if (!arrays.ok()) return {kExitUsage, arrays.status()};
  arrays_ = *std::move(arrays);
  return {};
}

Failure InferRun::MakeInputs() {
  const auto metadata = client_->GetModelMetadata(options_.model, options_.version, Deadline());
  if (!metadata.ok()) return {kExitServerError, metadata.status()};
  if (!options_.texts.empty()) return MakeTextInputs(*metadata);
  auto arrays = TensorInputs(plan_, std::move(files_), *metadata, options_.batch, options_.seed);
  if (!arrays.ok()) return {kExitUsage, arrays.status()};
  arrays_ = *std::move(arrays);
  return {};
}

Failure InferRun::Infer() {
  client::InferRequest request{options_.model, options_.version, options_.id, {}, {}};
  for (const NamedArray& named : arrays_) {
    request.inputs.push_back({named.name,
                              named.array.datatype,
                              named.array.shape,
                              {named.array.bytes.data(), named.array.bytes.size()}});
  }
  for (const OutputTarget& output : plan_.outputs) request.outputs.push_back(output.name);
  const int64_t start_ns = Clock::Real()->NowNs();
  auto reply = client_->Infer(request, Deadline());
  latency_ms_ = static_cast<double>(Clock::Real()->NowNs() - start_ns) / kNsPerMs;
  if (!reply.ok()) return {kExitServerError, reply.status()};
  reply_ = *std::move(reply);
  return {};
}

Failure InferRun::KeepOutputs() const {
  for (const OutputTarget& target : plan_.outputs) {
    for (const client::InferOutput& output : reply_.outputs) {
      if (target.path.empty() || output.name != target.name) continue;
      const auto file = FormatNpy({output.datatype, output.shape, output.bytes});
      if (!file.ok()) return {kExitCannotWrite, file.status()};
      const absl::Status status = WriteWholeFile(target.path, *file);
      if (!status.ok()) return {kExitCannotWrite, status};
    }
  }
  return {};
}

}  // namespace

int RunInfer(const InferOptions& options, std::ostream& out, std::ostream& err) {
  absl::StatusOr<InferPlan> plan = MakePlan(options);
  if (!plan.ok()) return Fail(err, kExitUsage, plan.status());
  InferRun run(options, *std::move(plan));
  for (Failure (InferRun::*step)() :
       {&InferRun::ReadFiles, &InferRun::Connect, &InferRun::MakeInputs, &InferRun::Infer}) {
    if (const Failure failure = (run.*step)()) return Fail(err, failure.code, failure.status);
  }
  out << run.Report();
  if (const Failure failure = run.KeepOutputs()) return Fail(err, failure.code, failure.status);
  return kExitOk;
}

}  // namespace mpsd::cli
