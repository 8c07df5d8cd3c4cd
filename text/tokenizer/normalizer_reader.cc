#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "text/normalize/bert_normalizer.h"
#include "text/normalize/precompiled.h"
#include "text/normalize/simple_normalizers.h"
#include "text/tokenizer/part_readers.h"
#include "text/tokenizer/step_reader.h"

namespace mpsd::text {
namespace {

using MadeNormalizer = absl::StatusOr<std::unique_ptr<Normalizer>>;

MadeNormalizer ReadBertNormalizer(Fields fields) {
  BertNormalizerOptions options;
  options.clean_text = fields.Flag("clean_text", true);
  options.handle_chinese_chars = fields.Flag("handle_chinese_chars", true);
  options.lowercase = fields.Flag("lowercase", true);
  options.strip_accents = fields.Flag("strip_accents", options.lowercase);
  return MakeStep<Normalizer, BertNormalizer>(&fields, options);
}

MadeNormalizer ReadPrecompiledNormalizer(Fields fields) {
  std::string charsmap;
  if (!absl::Base64Unescape(fields.Text("precompiled_charsmap", ""), &charsmap)) {
    fields.Complain("'precompiled_charsmap' must be in base64");
  }
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  absl::StatusOr<Precompiled> made = Precompiled::Make(charsmap);
  if (!made.ok()) return PartError("normalizer", made.status().message());
  return std::make_unique<Precompiled>(*std::move(made));
}

// The pattern is a text, or the one regular expression that SentencePiece's converters write.
MadeNormalizer ReadReplaceNormalizer(Fields fields) {
  const std::string content = Literal("content", &fields);
  std::string text;
  bool takes_runs = false;
  if (const Json* pattern = fields.Need("pattern"); pattern != nullptr) {
    Fields kinds(*pattern, "normalizer");
    text = Literal("String", &kinds);
    const std::string expression = kinds.Text("Regex", "");
    takes_runs = expression == " {2,}";
    if (takes_runs) {
      text.assign(1, ' ');
    } else if (!expression.empty()) {
      kinds.Complain(absl::StrCat("the pattern '", expression, "' is not known"));
    }
    if (text.empty()) kinds.Complain("a pattern is empty");
    const absl::Status status = kinds.Finish();
    if (!status.ok()) return status;
  }
  return MakeStep<Normalizer, ReplaceNormalizer>(&fields, text, takes_runs, content);
}

MadeNormalizer ReadStripNormalizer(Fields fields) {
  const bool left = fields.Flag("strip_left", true);
  const bool right = fields.Flag("strip_right", true);
  return MakeStep<Normalizer, StripNormalizer>(&fields, left, right);
}

MadeNormalizer ReadNormalizerStep(const Json& json, size_t* steps_left) {
  Fields fields(json, "normalizer");
  const std::string type = fields.Text("type", "");
  if (type == "BertNormalizer") return ReadBertNormalizer(std::move(fields));
  if (type == "Sequence") {
    return ReadSteps<Normalizer, NormalizerSequence>(std::move(fields), "normalizers",
                                                     ReadNormalizerStep, steps_left);
  }
  if (type == "Precompiled") return ReadPrecompiledNormalizer(std::move(fields));
  if (type == "Replace") return ReadReplaceNormalizer(std::move(fields));
  if (type == "Strip") return ReadStripNormalizer(std::move(fields));
  if (type == "NFC") return MakeStep<Normalizer, FormNormalizer>(&fields, Form::kNfc);
  if (type == "NFD") return MakeStep<Normalizer, FormNormalizer>(&fields, Form::kNfd);
  if (type == "NFKC") return MakeStep<Normalizer, FormNormalizer>(&fields, Form::kNfkc);
  if (type == "NFKD") return MakeStep<Normalizer, FormNormalizer>(&fields, Form::kNfkd);
  if (type == "Lowercase") return MakeStep<Normalizer, LowercaseNormalizer>(&fields);
  if (type == "StripAccents") return MakeStep<Normalizer, StripAccentsNormalizer>(&fields);
  if (type == "Prepend") {
    const std::string prefix = Literal("prepend", &fields);
    return MakeStep<Normalizer, PrependNormalizer>(&fields, prefix);
  }
  return PartError("normalizer", absl::StrCat("the type '", type, "' is not known"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Normalizer>> ReadNormalizer(const Json& json) {
  size_t steps_left = kMaxSteps;
  return ReadNormalizerStep(json, &steps_left);
}

}  // namespace mpsd::text
