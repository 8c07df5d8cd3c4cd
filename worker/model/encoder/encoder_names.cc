#include "worker/model/encoder/encoder_names.h"

namespace mpsd {
namespace {

// RoBERTa and related families kept BERT's.
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

// ModernBertEncoder names the layers.
constexpr EncoderNames kModernBert = {"model.", "", "", "", "",           "",
                                      "",       "", "", "", "head.dense", "classifier"};

constexpr EncoderNames kNomicBert = {
    "nomic_bert.",   "encoder.layers", "attn.Wqkv", "",        "",
    "attn.out_proj", "norm1",          "mlp.fc11",  "mlp.fc2", "norm2",
    "pooler.dense",  "classifier",     "emb_ln",    "mlp.fc12"};

// They stayed when GTE's model_type changed.
#define MPSD_GTE_LAYER                                                          \
  "encoder.layer", "attention.qkv_proj", "", "", "attention.o_proj", "attn_ln", \
      "mlp.up_gate_proj", "mlp.down_proj", "mlp_ln", "pooler.dense", "classifier"

constexpr EncoderNames kNewGte = {"new.", MPSD_GTE_LAYER};
constexpr EncoderNames kGte = {"gte.", MPSD_GTE_LAYER};
#undef MPSD_GTE_LAYER

// DecoderEncoder names the layers.
constexpr EncoderNames kDecoder = {"model.", "", "", "", "", "", "", "", "", "", "", ""};

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
    case EncoderFamily::kNomicBert:
      return kNomicBert;
    case EncoderFamily::kNewGte:
      return kNewGte;
    case EncoderFamily::kGte:
      return kGte;
    case EncoderFamily::kQwen3:
    case EncoderFamily::kGemma3:
      return kDecoder;
  }
  return kBert;
}

}  // namespace mpsd
