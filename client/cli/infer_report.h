// infer_report: the output of `infer`. All pure and thread-safe.
//
//   ROW  TEXT                                DIMS    NORM  FIRST VALUES
//     1  How far is it to the sea?            384  1.0000  +0.0370 +0.0974 -0.0170 -0.0246 …
//     2  What is the distance to the ocean?   384  1.0000  +0.0237 +0.0861 -0.0501 -0.0460 …
//
// A report never fails: contradictory contents appear as an empty list or an error's text. The text
// is for people, may change and cuts long texts. The JSON is for programs: keys stay, and every
// element is there.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/client.h"

namespace mpsd::cli {

// Takes the first output of shape [row_count, dims]: the protocol does not say which output is an
// embedding. Empty without one.
std::vector<std::vector<double>> FindEmbeddings(const client::InferReply& reply, size_t row_count);

// The Euclidean length.
double Norm(const std::vector<double>& vector);

// 0 if a vector has length 0. REQUIRES: equally many dims.
double Cosine(const std::vector<double>& a, const std::vector<double>& b);

// A line for each text: dims, norm, first values. REQUIRES: as many vectors as texts.
std::string EmbeddingsText(absl::Span<const std::string> texts,
                           const std::vector<std::vector<double>>& vectors);

// `texts` has one for each row; empty without --text. Embeddings have EmbeddingsText() and, for two
// texts or more, a table of cosines. Otherwise each output has a line. The last line names the
// model, its version, and `latency_ms`, which the client waited.
std::string ReportText(const client::InferReply& reply, absl::Span<const std::string> texts,
                       double latency_ms);

// Tells stderr how many texts the server cut; empty if none.
std::string CutsText(const client::InferReply& reply, size_t text_count);

// One object on one line: "model", "version", "id", "latency_ms", "outputs" with name, datatype,
// shape and flat "data". Embeddings add "texts", "norm" and "cosine"; texts add "truncated_texts".
// A number that is not finite is null; 64-bit integers are exact; bytes that are not UTF-8 become
// U+FFFD.
std::string ReportJson(const client::InferReply& reply, absl::Span<const std::string> texts,
                       double latency_ms);

}  // namespace mpsd::cli
