// EncoderNames: how each family names the tensors of its encoder and of its head.
#pragma once

#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// Names without the prefix, and without ".weight" and ".bias" behind them. Those of a layer stand
// behind "LAYERS.NUMBER."; empty where the family's layers have parts of another kind, and for key
// and value where `query` has all three. Constant.
struct EncoderNames {
  const char* prefix;  // before the encoder's names where a head was saved beside it
  const char* layers;
  const char* query;
  const char* key;
  const char* value;
  const char* attention_output;
  const char* attention_norm;
  const char* up;
  const char* down;
  const char* output_norm;
  const char* head_dense;  // of a classifier: with the prefix where it begins with "pooler"
  const char* head_output;
  const char* embedding_norm = "embeddings.LayerNorm";
  const char* gate = "";  // of a gated layer; empty where `up` has both, the gate behind
};

// The names of a family.
const EncoderNames& NamesOf(EncoderFamily family);

}  // namespace mpsd
