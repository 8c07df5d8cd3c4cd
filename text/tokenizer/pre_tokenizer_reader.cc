#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "text/split/byte_level.h"
#include "text/split/simple_pre_tokenizers.h"
#include "text/tokenizer/part_readers.h"
#include "text/tokenizer/step_reader.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

using MadePreTokenizer = absl::StatusOr<std::unique_ptr<PreTokenizer>>;

// Older files have `add_prefix_space` instead of a scheme. If both are there, they must agree, as
// in the reference. The scheme "first" is refused.
MadePreTokenizer ReadMetaspace(Fields fields) {
  const std::string sign = fields.Text("replacement", "\u2581");
  if (sign.empty() || CharacterSize(sign[0]) != sign.size()) {
    fields.Complain("'replacement' must be one character");
  }
  const bool adds = fields.Flag("add_prefix_space", true);
  const std::string scheme = fields.Text("prepend_scheme", adds ? "always" : "never");
  if (scheme != "always" && scheme != "never") {
    fields.Complain(absl::StrCat("the prepend_scheme '", scheme, "' is not known"));
  }
  if (!adds && scheme == "always") {
    fields.Complain("'add_prefix_space' and the prepend_scheme contradict each other");
  }
  const bool cuts = fields.Flag("split", true);
  fields.Find("str_rep");  // the replacement again, in older files
  return MakeStep<PreTokenizer, Metaspace>(&fields, sign, scheme == "always", cuts);
}

MadePreTokenizer ReadByteLevelSplit(Fields fields) {
  const bool adds_space = fields.Flag("add_prefix_space", true);
  const bool cuts = fields.Flag("use_regex", true);
  fields.Find("trim_offsets");
  return MakeStep<PreTokenizer, ByteLevel>(&fields, adds_space, cuts);
}

// The pattern is a WordPattern, whose matches are pieces, or a text behind which is cut.
MadePreTokenizer ReadSplit(Fields fields) {
  std::string text;
  std::string expression;
  if (const Json* kinds = fields.Need("pattern"); kinds != nullptr) {
    Fields kind(*kinds, "pre_tokenizer");
    text = Literal("String", &kind);
    expression = kind.Text("Regex", "");
    const absl::Status status = kind.Finish();
    if (!status.ok()) return status;
  }
  const std::optional<WordPattern> pattern = WordPattern::Of(expression);
  if (text.empty() && !pattern.has_value()) {
    fields.Complain(absl::StrCat("the pattern '", expression, "' is not known"));
  }
  const std::string behavior = fields.Text("behavior", "");
  if (behavior != (text.empty() ? "Isolated" : "MergedWithPrevious")) {
    fields.Complain(absl::StrCat("the behavior '", behavior, "' is not known"));
  }
  if (fields.Flag("invert", false)) fields.Complain("'invert' is not known");
  if (!text.empty()) return MakeStep<PreTokenizer, SplitBehind>(&fields, text);
  return MakeStep<PreTokenizer, PatternSplit>(&fields, pattern.value_or(WordPattern::Gpt2()));
}

MadePreTokenizer ReadPreTokenizerStep(const Json& json, size_t* steps_left) {
  Fields fields(json, "pre_tokenizer");
  const std::string type = fields.Text("type", "");
  if (type == "BertPreTokenizer") return MakeStep<PreTokenizer, BertPreTokenizer>(&fields);
  if (type == "Sequence") {
    return ReadSteps<PreTokenizer, PreTokenizerSequence>(std::move(fields), "pretokenizers",
                                                         ReadPreTokenizerStep, steps_left);
  }
  if (type == "WhitespaceSplit") return MakeStep<PreTokenizer, WhitespaceSplit>(&fields);
  if (type == "Metaspace") return ReadMetaspace(std::move(fields));
  if (type == "ByteLevel") return ReadByteLevelSplit(std::move(fields));
  if (type == "Split") return ReadSplit(std::move(fields));
  return PartError("pre_tokenizer", absl::StrCat("the type '", type, "' is not known"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PreTokenizer>> ReadPreTokenizer(const Json& json) {
  size_t steps_left = kMaxSteps;
  return ReadPreTokenizerStep(json, &steps_left);
}

}  // namespace mpsd::text
