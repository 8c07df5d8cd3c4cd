#include "client/cli/infer_verb.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/cli/infer_inputs.h"
#include "client/cli/infer_report.h"
#include "client/cli/infer_server.h"
#include "client/client.h"
#include "client/format/named_value.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/files/whole_file.h"

namespace mpsd::cli {
namespace {

absl::StatusOr<InputSource> ParseInput(const std::string& value) {
  auto [name, source] = SplitName(value);
  if (!name.empty() && source == "random") return InputSource{name, "", ""};
  const bool has_file = absl::ConsumePrefix(&source, "@");
  if (name.empty() || source.empty()) {
    return WrongOption("input", value,
                       "NAME=1,2,3, NAME=@FILE.npy, NAME=@FILE.json, NAME=@FILE or NAME=random");
  }
  if (!has_file) return InputSource{name, "", std::string(source)};
  return InputSource{name, std::string(source), ""};
}

InputFile::Format FormatOf(const std::string& path, const std::string& content) {
  if (absl::EndsWith(path, ".json")) return InputFile::Format::kJson;
  const bool is_npy = absl::EndsWith(path, ".npy") || IsNpy(content);
  return is_npy ? InputFile::Format::kNpy : InputFile::Format::kBytes;
}

absl::StatusOr<OutputTarget> ParseOutput(const std::string& value) {
  auto [name, target] = SplitName(value);
  if (!name.empty() && name == value) return OutputTarget{name, ""};
  if (name.empty() || !absl::ConsumePrefix(&target, "@") || target.empty()) {
    return WrongOption("output", value, "NAME or NAME=@FILE.npy");
  }
  return OutputTarget{name, std::string(target)};
}

absl::Status CheckCombination(const InferOptions& options, const InferPlan& plan) {
  if (options.inputs.empty() && options.texts.empty()) {
    return absl::InvalidArgumentError("--input or --text is needed");
  }
  if (!options.inputs.empty() && !options.texts.empty()) {
    return absl::InvalidArgumentError("--input and --text exclude each other");
  }
  if (options.texts.size() > kMaxBatchRows) {
    return absl::InvalidArgumentError(absl::StrCat("at most ", kMaxBatchRows, " --text"));
  }
  for (const auto& [name, dims] : plan.shapes) {
    bool known = false;
    for (const InputSource& input : plan.inputs) known = known || input.name == name;
    if (!known) return absl::InvalidArgumentError(absl::StrCat("--shape ", name, ": no --input"));
  }
  return absl::OkStatus();
}

template <class Item>
absl::Status ParseAll(const std::vector<std::string>& values,
                      absl::StatusOr<Item> (*parse)(const std::string&), std::vector<Item>* list) {
  for (const std::string& value : values) {
    absl::StatusOr<Item> item = parse(value);
    if (!item.ok()) return item.status();
    list->push_back(*std::move(item));
  }
  return absl::OkStatus();
}

// Each step leaves what the next one needs. Lives on one thread.
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
    return options_.server.json ? ReportJson(reply_, options_.texts, latency_ms_)
                                : ReportText(reply_, options_.texts, latency_ms_);
  }
  std::string Cuts() const { return CutsText(reply_, options_.texts.size()); }

 private:
  absl::Time Deadline() const { return absl::Now() + plan_.timeout; }

  const InferOptions& options_;
  const InferPlan plan_;
  std::vector<InputFile> files_;
  std::unique_ptr<InferServer> server_;
  std::vector<NamedArray> arrays_;
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
  auto server = ConnectInferServer(options_.server, Deadline(), &code);
  if (!server.ok()) return {code, server.status()};
  server_ = *std::move(server);
  return {};
}

Failure InferRun::MakeInputs() {
  const auto metadata = server_->GetModelMetadata(options_.model, options_.version, Deadline());
  if (!metadata.ok()) return {kExitServerError, metadata.status()};
  auto arrays = options_.texts.empty() ? TensorInputs(plan_, std::move(files_), *metadata,
                                                      options_.batch, options_.seed)
                                       : TextInputs(options_.texts, *metadata);
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
  auto reply = server_->Infer(request, Deadline());
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

absl::StatusOr<InferPlan> MakePlan(const InferOptions& options) {
  InferPlan plan;
  const absl::StatusOr<absl::Duration> timeout = ParseTimeout(options.server);
  if (!timeout.ok()) return timeout.status();
  plan.timeout = *timeout;

  std::vector<std::pair<std::string, Dims>> shapes;
  absl::Status status = ParseAll(options.inputs, ParseInput, &plan.inputs);
  if (status.ok()) status = ParseAll(options.outputs, ParseOutput, &plan.outputs);
  if (status.ok()) status = ParseAll(options.shapes, ParseShape, &shapes);
  if (!status.ok()) return status;
  plan.shapes.insert(shapes.begin(), shapes.end());

  status = CheckCombination(options, plan);
  if (!status.ok()) return status;
  return plan;
}

absl::StatusOr<std::vector<InputFile>> ReadInputFiles(const InferPlan& plan) {
  std::vector<InputFile> files(plan.inputs.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& path = plan.inputs[i].path;
    if (path.empty()) continue;
    absl::StatusOr<std::string> content = ReadWholeFile(path, kMaxNpyBytes);
    if (!content.ok()) return content.status();
    files[i].format = FormatOf(path, *content);
    if (files[i].format != InputFile::Format::kNpy) {
      files[i].content = *std::move(content);
      continue;
    }
    absl::StatusOr<NpyArray> array = ParseNpy(*content);
    if (!array.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": ", array.status().message()));
    }
    files[i].array = *std::move(array);
  }
  return files;
}

int RunInfer(const InferOptions& options, std::ostream& out, std::ostream& err) {
  absl::StatusOr<InferPlan> plan = MakePlan(options);
  if (!plan.ok()) return Fail(err, kExitUsage, plan.status());
  InferRun run(options, *std::move(plan));
  for (Failure (InferRun::*step)() :
       {&InferRun::ReadFiles, &InferRun::Connect, &InferRun::MakeInputs, &InferRun::Infer}) {
    if (const Failure failure = (run.*step)()) return Fail(err, failure.code, failure.status);
  }
  const int code = WriteReport(out, err, run.Report());
  err << run.Cuts();
  if (const Failure failure = run.KeepOutputs()) return Fail(err, failure.code, failure.status);
  return code;
}

}  // namespace mpsd::cli
