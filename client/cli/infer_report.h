// infer_report: the output of `infer`. Pure functions, all thread-safe.
#pragma once

#include <string>
#include <vector>

#include "client/client.h"

namespace mpsd::cli {

// The texts that were sent, with their lengths in tokens.
struct TextRows {
  std::vector<std::string> texts;
  std::vector<size_t> token_counts;
};

// The vectors of the first output that has one for each of `row_count` rows; empty when no output
// has.
std::vector<std::vector<double>> FindEmbeddings(const client::InferReply& reply, size_t row_count);

double Norm(const std::vector<double>& vector);

// 0 when one of the vectors has length 0.
double Cosine(const std::vector<double>& a, const std::vector<double>& b);

// A table of the outputs, or of the texts and their embeddings, for people.
std::string ReportText(const client::InferReply& reply, const TextRows& rows, double latency_ms);

// The whole answer as one JSON object: "outputs" with their elements in "data"; for texts also
// "texts" and "cosine". A number that is not finite is null.
std::string ReportJson(const client::InferReply& reply, const TextRows& rows, double latency_ms);

}  // namespace mpsd::cli
