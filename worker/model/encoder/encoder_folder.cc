#include "worker/model/encoder/encoder_folder.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "worker/model/encoder/encoder_names.h"
#include "worker/model/encoder/weights/mapped_file.h"
#include "worker/model/encoder/weights/weight_files.h"

namespace mpsd {
namespace {

constexpr size_t kMaxFileBytes = 4 << 20;
constexpr uint32_t kUsualBatchRows = 32;
constexpr int64_t kSmallestBucket = 16;
constexpr size_t kShownLabels = 8;
constexpr char kEncoderConfig[] = "config.json";
constexpr char kTokenizerConfig[] = "tokenizer_config.json";

// sentence-transformers' names for the settings of its first step. It reads the first file that
// exists.
constexpr const char* kSentenceBertConfigs[] = {
    "sentence_bert_config.json",       "sentence_roberta_config.json",
    "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
};

absl::StatusOr<std::string> ReadSmallFile(const ModelFolder& source, const std::string& name) {
  const absl::StatusOr<MappedFile> file = source.Map(name);
  if (!file.ok()) {
    return absl::Status(file.status().code(), absl::StrCat(name, " ", file.status().message()));
  }
  if (file->bytes().size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(name, " is larger than 4 MiB"));
  }
  return std::string(file->bytes());
}

absl::Status StatusOf(const absl::Status& status) { return status; }
template <typename Value>
absl::Status StatusOf(const absl::StatusOr<Value>& result) {
  return result.status();
}

// An error names the file.
template <typename Parse>
auto ReadAs(const ModelFolder& source, const std::string& name, const Parse& parse)
    -> decltype(parse(absl::string_view())) {
  const absl::StatusOr<std::string> text = ReadSmallFile(source, name);
  if (!text.ok()) return text.status();
  auto parsed = parse(*text);
  if (parsed.ok()) return parsed;
  const absl::Status status = StatusOf(parsed);
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

absl::Status ReadStep(const ModelFolder& source, const SentenceStep& step, EncoderFolder* folder) {
  if (step.kind == SentenceStep::kNormalize) {
    folder->tail.emplace_back();
    return absl::OkStatus();
  }
  const std::string file = step.folder + "/config.json";
  if (step.kind == SentenceStep::kPooling) {
    const absl::StatusOr<Pooling> pooling = ReadAs(source, file, ParsePooling);
    if (!pooling.ok()) return pooling.status();
    folder->pooling = *pooling;
    folder->pooling_is_told = true;
    return absl::OkStatus();
  }
  absl::StatusOr<DenseConfig> dense = ReadAs(source, file, ParseDense);
  if (!dense.ok()) return dense.status();
  if (dense->from != folder->width()) {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": 'in_features' is ", dense->from, ", but the step before gives ", folder->width()));
  }
  dense->folder = step.folder;
  folder->tail.push_back({true, *std::move(dense)});
  return absl::OkStatus();
}

// Turns a model that tells the next word into a reranker.
absl::Status ReadYesOrNo(EncoderFolder* folder) {
  EncoderConfig* config = &folder->config;
  if (config->family != EncoderFamily::kQwen3 || config->head != HeadKind::kTraining) {
    return absl::InvalidArgumentError(
        "config.json: mpsd compares the words of Qwen3ForCausalLM alone");
  }
  if (config->vocabulary_size <= kYesToken) {
    return absl::InvalidArgumentError("config.json: 'vocab_size' has no room for Qwen 3's words");
  }
  config->head = HeadKind::kYesOrNo;
  config->labels = {"yes"};
  config->score = Activation::kSigmoid;
  return absl::OkStatus();
}

// Guesses for a folder whose files do not tell.
bool IsReranker(const ModelFolder& source, ModelTask task) {
  const bool is_named = absl::StrContains(absl::AsciiStrToLower(source.Name()), "reranker");
  return task == ModelTask::kRerank || (task == ModelTask::kAuto && is_named);
}

absl::Status ReadWithoutSteps(const ModelFolder& source, ModelTask task, EncoderFolder* folder) {
  if (folder->config.head != HeadKind::kTraining) return absl::OkStatus();
  const bool is_chat = folder->config.family == EncoderFamily::kQwen3;
  if (is_chat && IsReranker(source, task)) return ReadYesOrNo(folder);
  return absl::InvalidArgumentError(
      "config.json: 'architectures' names a head for words, which mpsd does not serve; an "
      "embedder has a modules.json beside it");
}

absl::Status ReadSentenceFiles(const ModelFolder& source, ModelTask task, EncoderFolder* folder) {
  const auto steps = ReadAs(source, "modules.json", ParseSentenceSteps);
  if (absl::IsNotFound(steps.status())) return ReadWithoutSteps(source, task, folder);
  if (!steps.ok()) return steps.status();
  if (steps->size() == 1 && steps->front().kind == SentenceStep::kLogitScore) {
    const std::string file = steps->front().folder + "/config.json";
    const absl::Status words = ReadAs(source, file, CheckLogitScore);
    return words.ok() ? ReadYesOrNo(folder) : words;
  }
  if (folder->is_classifier()) {
    if (steps->empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "modules.json: there is a pooling beside a classifier's head");
  }
  if (steps->empty()) {
    return absl::InvalidArgumentError(
        "modules.json: there is no Pooling, and vectors of tokens are not served");
  }
  for (const SentenceStep& step : *steps) {
    if (absl::Status status = ReadStep(source, step, folder); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// This file takes precedence over config.json.
absl::Status ReadScore(const ModelFolder& source, EncoderFolder* folder) {
  if (!folder->has_scores()) return absl::OkStatus();
  const auto score = ReadAs(source, "config_sentence_transformers.json", ParseScoreActivation);
  if (absl::IsNotFound(score.status())) return absl::OkStatus();
  if (!score.ok()) return score.status();
  folder->config.score = score->value_or(folder->config.score);
  return absl::OkStatus();
}

// A file only lowers the limit.
void LimitTokens(int64_t tokens, const std::string& file, EncoderFolder* folder) {
  if (tokens == 0 || tokens > folder->max_tokens) return;
  folder->max_tokens = tokens;
  folder->max_tokens_file = file;
}

// The first file that exists sets the limit, otherwise tokenizer_config.json.
absl::Status ReadToldTokens(const ModelFolder& source, EncoderFolder* folder) {
  for (const char* name : kSentenceBertConfigs) {
    const auto told = ReadAs(source, name, ParseMaxTokens);
    if (absl::IsNotFound(told.status())) continue;
    if (!told.ok()) return told.status();
    if (*told == 0) break;
    LimitTokens(*told, name, folder);
    return absl::OkStatus();
  }
  const auto of_tokenizer = ReadAs(source, kTokenizerConfig, ParseTokenizerMaxTokens);
  if (absl::IsNotFound(of_tokenizer.status())) return absl::OkStatus();
  if (!of_tokenizer.ok()) return of_tokenizer.status();
  LimitTokens(*of_tokenizer, kTokenizerConfig, folder);
  return absl::OkStatus();
}

absl::Status ReadMaxTokens(const ModelFolder& source, EncoderFolder* folder) {
  folder->max_tokens = kUsualMaxTokens;
  LimitTokens(folder->config.max_tokens(), kEncoderConfig, folder);
  return ReadToldTokens(source, folder);
}

std::vector<int64_t> Buckets(int64_t longest) {
  std::vector<int64_t> buckets;
  for (int64_t length = kSmallestBucket; length < longest; length *= 2) buckets.push_back(length);
  buckets.push_back(longest);
  return buckets;
}

// A row is refused if it is longer than the last bucket of any input.
int64_t LongestRow(const EncoderFolder& folder, const ModelSpec& spec) {
  int64_t longest = folder.config.max_tokens();
  for (const PadRule& rule : spec.pad) {
    if (!rule.buckets.empty()) longest = std::min(longest, rule.buckets.back());
  }
  return longest;
}

std::string TokensText(const EncoderFolder& folder, const ModelSpec& spec) {
  const int64_t longest = LongestRow(folder, spec);
  const std::string count = absl::StrCat("at most ", longest, " a row");
  if (longest != folder.max_tokens) return absl::StrCat(count, ", as its padding says");
  if (!folder.max_tokens_file.empty()) {
    return absl::StrCat(count, ", as ", folder.max_tokens_file, " says");
  }
  return absl::StrCat(count, " of the model's ", folder.config.max_tokens(),
                      ", unless its padding says more");
}

std::string TailText(const EncoderFolder& folder) {
  std::string text(NameOf(folder.pooling));
  if (!folder.pooling_is_told) absl::StrAppend(&text, " (the default: there is no modules.json)");
  for (const SentenceTail& step : folder.tail) {
    absl::StrAppend(&text,
                    step.is_dense ? absl::StrCat(", dense to ", step.dense.to) : ", normalize");
  }
  return text;
}

// 0 if the weights do not tell.
int64_t LabelsOf(const StoredTensors& weights, EncoderFamily family) {
  const auto found = weights.find(absl::StrCat(NamesOf(family).head_output, ".weight"));
  if (found == weights.end() || found->second.shape.size() != 2) return 0;
  const int64_t rows = found->second.shape[0];
  return rows <= static_cast<int64_t>(kMaxLabels) ? rows : 0;
}

std::string LabelsText(const EncoderConfig& config) {
  const size_t shown = std::min(config.labels.size(), kShownLabels);
  return absl::StrCat(config.labels.size(), " (",
                      absl::StrJoin(config.labels.begin(), config.labels.begin() + shown, ", "),
                      shown < config.labels.size() ? ", …), " : "), ", NameOf(config.score));
}

}  // namespace

int64_t EncoderFolder::width() const {
  if (has_scores()) return static_cast<int64_t>(config.labels.size());
  for (auto step = tail.rbegin(); step != tail.rend(); ++step) {
    if (step->is_dense) return step->dense.to;
  }
  return config.hidden_size;
}

absl::StatusOr<EncoderFolder> ReadEncoderFolder(const ModelFolder& source, ModelTask task,
                                                int64_t labels) {
  EncoderFolder folder;
  if (labels == 0) labels = IsReranker(source, task) ? 1 : kUsualLabels;
  absl::StatusOr<EncoderConfig> config =
      ReadAs(source, kEncoderConfig,
             [labels](absl::string_view text) { return ParseEncoderConfig(text, labels); });
  if (!config.ok()) return config.status();
  folder.config = *std::move(config);
  absl::Status status = ReadSentenceFiles(source, task, &folder);
  status.Update(ReadScore(source, &folder));
  if (!status.ok()) return status;
  status = ReadMaxTokens(source, &folder);
  if (!status.ok()) return status;
  return folder;
}

absl::StatusOr<EncoderFolder> ReadFolderAndWeights(const ModelFolder& source, ModelTask task) {
  absl::StatusOr<EncoderFolder> folder = ReadEncoderFolder(source, task);
  if (!folder.ok() || !folder->is_classifier() || folder->config.labels_are_told) return folder;
  const absl::StatusOr<WeightFiles> weights = WeightFiles::Open(source);
  if (!weights.ok()) return folder;
  return ReadEncoderFolder(source, task, LabelsOf(weights->tensors(), folder->config.family));
}

absl::StatusOr<ModelSpec> EncoderSpec(const LoadOrder& order, const EncoderFolder& folder) {
  if (!order.spec.inputs.empty() || !order.spec.outputs.empty()) {
    return absl::InvalidArgumentError(
        "its inputs and outputs follow from its folder; leave them out of the config");
  }
  ModelSpec spec;
  spec.max_batch_size = order.spec.max_batch_size > 0 ? order.spec.max_batch_size : kUsualBatchRows;
  spec.inputs = {{"input_ids", DataType::kInt64, {-1}}, {"attention_mask", DataType::kInt64, {-1}}};
  if (folder.config.token_type_count > 1) {
    spec.inputs.push_back({"token_type_ids", DataType::kInt64, {-1}, /*optional=*/true});
  }
  spec.pad = order.spec.pad;
  for (const PadRule& rule : spec.pad) {
    if (rule.buckets.empty() || rule.buckets.back() <= folder.config.max_tokens()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("its padding has a bucket of ", rule.buckets.back(),
                     " tokens, but the model has ", folder.config.max_tokens(), " positions"));
  }
  for (const TensorSpec& input : spec.inputs) {
    if (!order.spec.pad.empty()) break;
    PadRule rule;
    rule.input = input.name;
    rule.buckets = Buckets(folder.max_tokens);
    spec.pad.push_back(std::move(rule));
  }
  if (folder.has_scores()) {
    spec.outputs = {{"logits", DataType::kFp32, {folder.width()}},
                    {"scores", DataType::kFp32, {folder.width()}}};
  } else {
    spec.outputs = {{"sentence_embedding", DataType::kFp32, {folder.width()}}};
  }
  return spec;
}

std::vector<ModelFact> FactsOf(const EncoderFolder& folder, const ModelSpec& spec) {
  const EncoderConfig& config = folder.config;
  std::vector<ModelFact> facts = {{"family", std::string(NameOf(config.family))}};
  if (config.head == HeadKind::kYesOrNo) {
    facts.push_back({"task", "scores of pairs, by the words yes and no"});
    facts.push_back({"labels", LabelsText(config)});
  } else if (folder.is_classifier()) {
    facts.push_back({"task", config.labels.size() == 1 ? "scores of pairs or texts" : "classes"});
    facts.push_back({"labels", LabelsText(config)});
  } else {
    facts.push_back({"task", "embeddings"});
    facts.push_back({"pooling", TailText(folder)});
  }
  facts.push_back({"sizes", absl::StrCat(config.layer_count, " layers, ", config.hidden_size,
                                         " wide, ", config.head_count, " heads")});
  facts.push_back({"words", absl::StrCat(config.vocabulary_size)});
  facts.push_back({"tokens", TokensText(folder, spec)});
  return facts;
}

}  // namespace mpsd
