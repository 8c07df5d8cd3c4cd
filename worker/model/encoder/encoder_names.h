// EncoderNames: each family's names for the tensors of its encoder and head.
#pragma once

#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// Names are without ".weight" and ".bias". A layer's names follow "LAYERS.NUMBER.". A name is empty
// if the family has no such part. Key and value are empty if `query` holds all three. Constant.
struct EncoderNames {
  const char* prefix;  // before the encoder's names if a head was saved beside it
  const char* layers;
  const char* query;
  const char* key;
  const char* value;
  const char* attention_output;
  const char* attention_norm;
  const char* up;
  const char* down;
  const char* output_norm;
  const char* head_dense;  // with the prefix if it begins with "pooler"
  const char* head_output;
  const char* embedding_norm = "embeddings.LayerNorm";
  const char* gate = "";  // empty: `up` holds both, the gate second
};

const EncoderNames& NamesOf(EncoderFamily family);

}  // namespace mpsd
