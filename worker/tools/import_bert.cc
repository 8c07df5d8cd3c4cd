// mpsd-import-bert HF_DIR OUT.pt: makes a TorchScript archive for mpsd from a BERT encoder as
// Hugging Face tools save it: config.json and model.safetensors, and for an encoder of sentences
// also modules.json and 1_Pooling/config.json.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "worker/tools/bert_config.h"
#include "worker/tools/bert_module.h"
#include "worker/tools/safetensors.h"
#include "worker/tools/sentence_config.h"

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

// What the files of a sentence-transformers folder say; the mean where there are none.
absl::StatusOr<BertPooling> ReadPooling(const std::string& dir) {
  const std::string modules_path = dir + "/modules.json";
  if (const absl::StatusOr<std::string> text = ReadFile(modules_path); text.ok()) {
    if (absl::Status status = CheckModules(*text); !status.ok()) return In(modules_path, status);
  }
  const std::string path = dir + "/1_Pooling/config.json";
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return BertPooling::kMean;
  const absl::StatusOr<BertPooling> pooling = ParsePooling(*text);
  if (!pooling.ok()) return In(path, pooling.status());
  return pooling;
}

absl::Status Import(const std::string& dir, const std::string& target) {
  const std::string config_path = dir + "/config.json";
  const std::string weights_path = dir + "/model.safetensors";
  const absl::StatusOr<std::string> config_text = ReadFile(config_path);
  if (!config_text.ok()) return config_text.status();
  const absl::StatusOr<BertConfig> config = ParseBertConfig(*config_text);
  if (!config.ok()) return In(config_path, config.status());
  const absl::StatusOr<BertPooling> pooling = ReadPooling(dir);
  if (!pooling.ok()) return pooling.status();
  const absl::StatusOr<std::string> file = ReadFile(weights_path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<Safetensors> weights = ParseSafetensors(*file);
  if (!weights.ok()) return In(weights_path, weights.status());
  const absl::Status status = WriteBert(*config, *pooling, *weights, target);
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
