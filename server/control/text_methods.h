// TextMethods: mpsd.text.v1.Text, by which clients turn texts into the tokens of a model.
#pragma once

#include <cstddef>

#include "server/accept/method_table.h"
#include "server/request/served_model.h"

namespace mpsd {

// The bytes of a vocabulary that one call gets. An answer that its client does not read holds no
// more than that, so the bound of open calls bounds the memory too.
inline constexpr size_t kVocabularyPieceBytes = 64 << 10;

// Adds Vocabulary: a piece of the vocabulary that the generation was made with (Vocabulary,
// proto/text). Whoever may infer with the model may ask for it; the gate has judged that. The
// method reads no file and names none. It runs on the queue thread of its call and does not block.
//
// Errors are those of FindServed(), and further:
//
//   NOT_FOUND            the config names no vocabulary for the model
//   FAILED_PRECONDITION  the files that the config names cannot be used; says why without paths
//   INVALID_ARGUMENT     the piece begins behind the end
//
// `models` outlives the table.
void AddTextMethods(const ModelDirectory* models, MethodTable* table);

}  // namespace mpsd
