// mpsd-import-bert HF_DIR OUT.pt: makes a TorchScript archive for mpsd from a BERT encoder as
// Hugging Face tools save it: config.json and model.safetensors.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "worker/tools/bert_config.h"
#include "worker/tools/bert_module.h"
#include "worker/tools/safetensors.h"

namespace mpsd {
namespace {

constexpr int kExitUsage = 64;
constexpr int kExitBadData = 65;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path));
  }
  return content;
}

absl::Status In(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

// A sentence-transformers folder says how its tokens are pooled; the importer supports only the
// mean.
absl::Status CheckPooling(const std::string& dir) {
  const std::string path = dir + "/1_Pooling/config.json";
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return absl::OkStatus();
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const bool mean = json.is_object() && json.contains("pooling_mode_mean_tokens") &&
                    json["pooling_mode_mean_tokens"] == true;
  if (mean) return absl::OkStatus();
  return In(path, absl::InvalidArgumentError("the model does not pool by the mean of its tokens"));
}

absl::Status Import(const std::string& dir, const std::string& target) {
  const std::string config_path = dir + "/config.json";
  const std::string weights_path = dir + "/model.safetensors";
  const absl::StatusOr<std::string> config_text = ReadFile(config_path);
  if (!config_text.ok()) return config_text.status();
  const absl::StatusOr<BertConfig> config = ParseBertConfig(*config_text);
  if (!config.ok()) return In(config_path, config.status());
  if (absl::Status status = CheckPooling(dir); !status.ok()) return status;
  const absl::StatusOr<std::string> file = ReadFile(weights_path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<Safetensors> weights = ParseSafetensors(*file);
  if (!weights.ok()) return In(weights_path, weights.status());
  const absl::Status status = WriteBert(*config, *weights, target);
  return absl::IsInvalidArgument(status) ? In(weights_path, status) : status;
}

int Main(int argc, char** argv) {
  if (argc != 3 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: mpsd-import-bert HF_DIR OUT.pt\n");
    return kExitUsage;
  }
  const absl::Status status = Import(argv[1], argv[2]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "mpsd-import-bert: %s\n", std::string(status.message()).c_str());
  return kExitBadData;
}

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) { return mpsd::Main(argc, argv); }
