#include "worker/model/encoder/encoder_parts.h"

#include <utility>

#include "absl/status/status.h"
#include "worker/model/encoder/bert_encoder.h"
#include "worker/model/encoder/decoder_encoder.h"
#include "worker/model/encoder/encoder_names.h"
#include "worker/model/encoder/gated_bert_encoder.h"
#include "worker/model/encoder/modern_bert_encoder.h"
#include "worker/model/encoder/weights/encoder_weights.h"
#include "worker/model/encoder/weights/weight_files.h"

namespace mpsd {
namespace {

std::unique_ptr<const Encoder> MakeEncoder(const EncoderConfig& config, EncoderWeights* weights,
                                           c10::Device device) {
  switch (config.family) {
    case EncoderFamily::kModernBert:
      return std::make_unique<const ModernBertEncoder>(config, weights, device);
    case EncoderFamily::kNomicBert:
    case EncoderFamily::kNewGte:
    case EncoderFamily::kGte:
      return std::make_unique<const GatedBertEncoder>(config, weights, device);
    case EncoderFamily::kQwen3:
    case EncoderFamily::kGemma3:
      return std::make_unique<const DecoderEncoder>(config, weights, device);
    default:
      return std::make_unique<const BertEncoder>(config, weights);
  }
}

}  // namespace

absl::StatusOr<EncoderParts> LoadEncoderParts(const ModelFolder& source,
                                              const EncoderFolder& folder, at::ScalarType type,
                                              Products products, c10::Device device) {
  EncoderParts parts;
  const absl::StatusOr<WeightFiles> files = WeightFiles::Open(source);
  if (!files.ok()) return files.status();
  EncoderWeights weights(files->tensors(), NamesOf(folder.config.family).prefix, device);
  weights.HandOutAs(type);
  weights.MultiplyBy(products);
  parts.encoder = MakeEncoder(folder.config, &weights, device);
  weights.HandOutAs(at::kFloat);
  weights.MultiplyBy(Products::kTorch);
  if (folder.config.head == HeadKind::kYesOrNo) {
    parts.head = std::make_unique<YesOrNoHead>(folder.config, &weights);
  } else if (folder.is_classifier()) {
    parts.head = std::make_unique<ClassifierHead>(folder.config, &weights);
  } else {
    absl::StatusOr<std::unique_ptr<EncoderHead>> head =
        SentenceHead::Load(source, folder, &weights, device);
    if (!head.ok()) return head.status();
    parts.head = *std::move(head);
  }
  if (absl::Status status = weights.Finish(); !status.ok()) return status;
  parts.encoder->Count(&parts.census);
  weights.Count(&parts.census);
  parts.weights = weights.Held();
  return parts;
}

}  // namespace mpsd
