// infer_report: the output of `infer`. Pure functions, all thread-safe.
//
// The last step of the verb: the whole answer has arrived. A report never fails; contradictory
// contents appear as they are, as an empty list or an error's text in a cell.
//
//   ROW  TEXT                                DIMS    NORM  FIRST VALUES
//     1  How far is it to the sea?            384  1.0000  +0.0370 +0.0974 -0.0170 -0.0246 …
//     2  What is the distance to the ocean?   384  1.0000  +0.0237 +0.0861 -0.0501 -0.0460 …
//
// Texts wider than a terminal's column are cut there, never in the JSON.
//
// The text is for people and may change. The JSON is for programs: its keys stay, and unlike the
// text it holds every element.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/client.h"

namespace mpsd::cli {

// The vectors of the first output with the shape [row_count, dims]; empty without such an output,
// or without rows. An encoder's answer is recognized by its shape, since the protocol does not say
// which output is an embedding.
std::vector<std::vector<double>> FindEmbeddings(const client::InferReply& reply, size_t row_count);

// The Euclidean length.
double Norm(const std::vector<double>& vector);

// The cosine of the angle between the vectors; 0 if one has length 0. REQUIRES: they have the same
// number of dims.
double Cosine(const std::vector<double>& a, const std::vector<double>& b);

// One line for each text: dims, norm, first values. REQUIRES: as many vectors as texts.
std::string EmbeddingsText(absl::Span<const std::string> texts,
                           const std::vector<std::vector<double>>& vectors);

// For people. `texts` were sent, one for each row; empty without --text. With embeddings it has one
// line for each text: dims, norm, first values; and for two or more texts the table of their
// cosines. Otherwise it has one line for each output: datatype, shape, smallest, largest and mean
// element, first values. The last line names the model and version that answered, and `latency_ms`,
// the time that the client waited.
std::string ReportText(const client::InferReply& reply, absl::Span<const std::string> texts,
                       double latency_ms);

// A line for stderr with the number of texts that the server cut; empty if none.
std::string CutsText(const client::InferReply& reply, size_t text_count);

// The whole answer as one JSON object on one line: "model", "version", "id", "latency_ms", and
// "outputs" with name, datatype, shape and flat elements in "data". Embeddings add "texts", with
// their "norm", and "cosine"; texts add "truncated_texts", how many the server cut. A number that
// is not finite is null; 64-bit integers are exact; bytes that are not UTF-8 become U+FFFD.
std::string ReportJson(const client::InferReply& reply, absl::Span<const std::string> texts,
                       double latency_ms);

}  // namespace mpsd::cli
