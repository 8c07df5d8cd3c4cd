#include "client/cli/inspect_verb.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/exit_code.h"
#include "client/cli/server_options.h"
#include "client/cli/tokenizer_report.h"
#include "client/format/table.h"
#include "client/tune/private_folder.h"
#include "nlohmann/json.hpp"
#include "proto/base/child_output.h"
#include "proto/base/clock.h"
#include "proto/base/units.h"
#include "proto/link/model_format.h"
#include "proto/link/worker_program.h"

namespace mpsd::cli {
namespace {

using nlohmann::ordered_json;

// A large model on a busy machine may need so long.
constexpr int64_t kDescribeNs = 600 * kNsPerSecond;

std::vector<std::string> Arguments(const InspectOptions& options) {
  const std::string path = std::filesystem::absolute(options.file).lexically_normal().string();
  std::vector<std::string> arguments = {"--describe", path, "--device", options.device};
  if (options.precision != InspectOptions().precision) {
    arguments.insert(arguments.end(), {"--precision", options.precision});
  }
  for (const std::string& input : options.inputs) {
    arguments.insert(arguments.end(), {"--input", input});
  }
  for (const std::string& output : options.outputs) {
    arguments.insert(arguments.end(), {"--output", output});
  }
  if (options.max_batch_size > 0) {
    arguments.insert(arguments.end(), {"--max-batch-size", absl::StrCat(options.max_batch_size)});
  }
  return arguments;
}

// Empty if the worker has something to look at.
std::string FileFault(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) || error.value() == EACCES) return "";
  return absl::StrCat("there is no file '", path, "'");
}

// On failure `*code` is the verb's exit code.
absl::StatusOr<ordered_json> Describe(const InspectOptions& options, ExitCode* code) {
  *code = kExitNoInput;
  const std::string fault = FileFault(options.file);
  if (!fault.empty()) return absl::NotFoundError(fault);
  const absl::StatusOr<std::string> worker = WorkerProgram(options.worker);
  if (!worker.ok()) return worker.status();
  // The worker's sandbox lets it unpack nowhere else.
  const absl::StatusOr<tune::PrivateFolder> folder = tune::PrivateFolder::Make();
  if (!folder.ok()) return folder.status();
  const absl::StatusOr<ChildOutput> output =
      RunChild(*worker, Arguments(options), kDescribeNs, {{"TMPDIR", folder->path()}});
  if (!output.ok()) return output.status();
  const std::string line = LastLine(output->text);
  if (output->exit_code == kExitUsage) *code = kExitUsage;  // the worker has the same codes
  ordered_json json = ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("error") && json["error"].is_string()) {
    return absl::InvalidArgumentError(json["error"].get<std::string>());
  }
  if (output->exit_code == 0 && json.is_object() && json.contains("config")) return json;
  return absl::InternalError(absl::StrCat("mpsd-worker could not read ", options.file, " (exit ",
                                          output->exit_code, "): ", line));
}

std::string TextOf(const ordered_json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return "-";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string TensorsText(const ordered_json& json) {
  Table table({{"TENSOR"}, {"NAME"}, {"TYPE"}, {"SHAPE"}, {"DYNAMIC DIMS"}});
  for (const char* kind : {"inputs", "outputs"}) {
    if (!json.contains(kind)) continue;
    for (const ordered_json& tensor : json[kind]) {
      std::vector<std::string> open;
      int index = 0;
      for (const ordered_json& dim : tensor["shape"]) {
        if (dim == -1) open.push_back(absl::StrCat(index));
        ++index;
      }
      table.AddRow({kind[0] == 'i' ? "input" : "output", TextOf(tensor, "name"),
                    TextOf(tensor, "datatype"), tensor["shape"].dump(),
                    open.empty() ? "none" : absl::StrJoin(open, ", ")});
    }
  }
  return table.Text();
}

std::string CensusText(const ordered_json& json) {
  if (!json.contains("census") || json["census"].value("known", false) == false) {
    return "operators: the file does not tell\n";
  }
  const ordered_json& census = json["census"];
  std::string text = absl::StrCat("operators: ", TextOf(census, "operators"));
  for (const char* kind : {"layer_norm", "attention", "linear", "convolution", "matmul",
                           "embedding", "recurrent", "contiguous"}) {
    if (census.value(kind, 0) > 0) absl::StrAppend(&text, ", ", kind, " ", TextOf(census, kind));
  }
  std::vector<std::string> dtypes;
  for (const ordered_json& dtype : census.value("parameter_dtypes", ordered_json::array())) {
    if (dtype.is_string()) dtypes.push_back(dtype.get<std::string>());
  }
  return absl::StrCat(text,
                      "\nparameters: ", BytesText(census.value("parameter_bytes", uint64_t{0})),
                      dtypes.empty() ? "" : " ", absl::StrJoin(dtypes, ", "), "\n");
}

std::string PrecisionText(const ordered_json& json) {
  const std::string note = json.value("precision_note", "");
  return absl::StrCat("precision: ", TextOf(json, "precision"), note.empty() ? "" : "; ", note,
                      "\n");
}

std::string FactsText(const ordered_json& json) {
  std::string text;
  if (!json.contains("facts")) return text;
  for (const auto& fact : json["facts"].items()) {
    absl::StrAppend(&text, fact.key(), ": ", TextOf(json["facts"], fact.key().c_str()), "\n");
  }
  return text;
}

int64_t IdsBeyondModel(const ordered_json& json, const ordered_json& tokenizer) {
  int64_t words = 0;
  const auto facts = json.find("facts");
  if (facts == json.end() || !absl::SimpleAtoi(TextOf(*facts, "words"), &words)) return 0;
  return std::max<int64_t>(0, tokenizer.value("id_bound", int64_t{0}) - words);
}

void AddTokenizer(ordered_json tokenizer, ordered_json* json) {
  if (tokenizer.contains("id_bound")) {
    tokenizer["ids_beyond_model"] = IdsBeyondModel(*json, tokenizer);
  }
  (*json)["tokenizer"] = std::move(tokenizer);
}

std::string DescriptionLine(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string DescriptionText(const ordered_json& json) {
  std::string text = absl::StrCat(TextOf(json, "file"), ": ", TextOf(json, "format"), ", on ",
                                  TextOf(json, "device"), " with ", TextOf(json, "runtime"), " (",
                                  TextOf(json, "runtime_kind"), ")\n");
  absl::StrAppend(&text, PrecisionText(json));
  const int64_t rows = json.value("max_batch_size", int64_t{0});
  absl::StrAppend(&text,
                  rows > 0 ? absl::StrCat("batches of up to ", rows, " rows\n") : "no batch dim\n");
  absl::StrAppend(&text, CensusText(json), FactsText(json), TokenizerText(json), "\n",
                  TensorsText(json), PromptsText(json), "\nconfig:\n",
                  json.contains("config") ? json["config"].dump(2) : "", "\n");
  return text;
}

int RunInspect(const InspectOptions& options, const TokenizerTeller& tokenizer_of,
               std::ostream& out, std::ostream& err) {
  ExitCode code = kExitOk;
  absl::StatusOr<ordered_json> json = Describe(options, &code);
  if (!json.ok()) return Fail(err, code, json.status());
  if (TextOf(*json, "format") == NameOf(ModelFormat::kHuggingFace)) {
    AddTokenizer(tokenizer_of(options.file), &*json);
  }
  return WriteReport(out, err, options.json ? DescriptionLine(*json) : DescriptionText(*json));
}

int RunInit(const InspectOptions& options, std::ostream& out, std::ostream& err) {
  std::error_code error;
  if (!options.force && std::filesystem::exists(options.target, error)) {
    return Fail(err, kExitUsage,
                absl::AlreadyExistsError(
                    absl::StrCat(options.target, " is there already; --force overwrites it")));
  }
  ExitCode code = kExitOk;
  const absl::StatusOr<ordered_json> json = Describe(options, &code);
  if (!json.ok()) return Fail(err, code, json.status());
  std::ofstream file(options.target);
  file << json->at("config").dump(2) << "\n";
  file.close();
  if (!file) {
    const std::string why = std::strerror(errno);
    return Fail(
        err, kExitCannotWrite,
        absl::PermissionDeniedError(absl::StrCat("cannot write ", options.target, ": ", why)));
  }
  const bool is_found = options.target == InspectOptions().target;  // `mpsd serve` looks there
  out << options.target << " is written; mpsd serve"
      << (is_found ? "" : absl::StrCat(" --config ", options.target)) << "\n";
  return kExitOk;
}

}  // namespace mpsd::cli
