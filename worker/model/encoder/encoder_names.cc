#include "worker/model/encoder/encoder_names.h"

namespace mpsd {
namespace {

// The names of BERT's layers, which RoBERTa and its kin kept.
#define MPSD_BERT_LAYER                                                                  \
  "encoder.layer", "attention.self.query", "attention.self.key", "attention.self.value", \
      "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense",      \
      "output.dense", "output.LayerNorm"

constexpr EncoderNames kBert = {"bert.", MPSD_BERT_LAYER, "pooler.dense", "classifier"};
constexpr EncoderNames kRoberta = {"roberta.", MPSD_BERT_LAYER, "classifier.dense",
                                   "classifier.out_proj"};
#undef MPSD_BERT_LAYER

constexpr EncoderNames kDistilBert = {"distilbert.",       "transformer.layer", "attention.q_lin",
                                      "attention.k_lin",   "attention.v_lin",   "attention.out_lin",
                                      "sa_layer_norm",     "ffn.lin1",          "ffn.lin2",
                                      "output_layer_norm", "pre_classifier",    "classifier"};
constexpr EncoderNames kMpnet = {
    "mpnet.",           "encoder.layer",    "attention.attn.q",    "attention.attn.k",
    "attention.attn.v", "attention.attn.o", "attention.LayerNorm", "intermediate.dense",
    "output.dense",     "output.LayerNorm", "classifier.dense",    "classifier.out_proj"};

// Its layers are ModernBertEncoder's own.
constexpr EncoderNames kModernBert = {"model.", "", "", "", "",           "",
                                      "",       "", "", "", "head.dense", "classifier"};

}  // namespace

const EncoderNames& NamesOf(EncoderFamily family) {
  switch (family) {
    case EncoderFamily::kBert:
      return kBert;
    case EncoderFamily::kRoberta:
    case EncoderFamily::kXlmRoberta:
    case EncoderFamily::kCamembert:
      return kRoberta;
    case EncoderFamily::kDistilBert:
      return kDistilBert;
    case EncoderFamily::kMpnet:
      return kMpnet;
    case EncoderFamily::kModernBert:
      return kModernBert;
  }
  return kBert;
}

}  // namespace mpsd
