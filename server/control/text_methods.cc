#include "server/control/text_methods.h"

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/text.pb.h"
#include "proto/text/vocabulary.h"
#include "server/control/repository_methods.h"

namespace mpsd {
namespace {

namespace text_pb = mpsd::text::v1;

absl::Status Unusable(const std::string& model, const absl::Status& status) {
  if (absl::IsUnimplemented(status)) {
    return absl::NotFoundError(absl::StrCat("model '", model, "' has no vocabulary"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the vocabulary of model '", model,
                   "' cannot be used: ", WithoutPathsAndErrnos(status.message())));
}

absl::Status Describe(const Vocabulary& vocabulary, uint64_t offset,
                      text_pb::VocabularyReply* reply) {
  const absl::string_view words = vocabulary.words;
  if (offset > words.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the vocabulary has ", words.size(), " bytes; there is none at ", offset));
  }
  reply->set_piece(std::string(words.substr(offset, kVocabularyPieceBytes)));
  reply->set_total_bytes(words.size());
  reply->set_fingerprint(vocabulary.fingerprint);
  reply->set_keeps_case(vocabulary.letter_case == LetterCase::kKept);
  return absl::OkStatus();
}

}  // namespace

void AddTextMethods(const ModelDirectory* models, MethodTable* table) {
  table->AddTyped<text_pb::VocabularyRequest, text_pb::VocabularyReply>(
      "/mpsd.text.v1.Text/Vocabulary", MethodTable::Kind::kUnary,
      [models](const CallerInfo&, const auto& request, auto* reply) {
        const absl::StatusOr<std::shared_ptr<ServedModel>> model =
            FindServed(*models, request.model_name(), request.model_version());
        if (!model.ok()) return model.status();
        const absl::StatusOr<Vocabulary>& vocabulary = (*model)->vocabulary;
        if (!vocabulary.ok()) return Unusable((*model)->name, vocabulary.status());
        return Describe(*vocabulary, request.offset(), reply);
      });
}

}  // namespace mpsd
