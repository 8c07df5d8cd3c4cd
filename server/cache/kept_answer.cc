#include "server/cache/kept_answer.h"

#include <cstring>

#include "proto/base/check.h"

namespace mpsd {
namespace {

// Overhead of one KeptAnswer in a ResponseCache: a list's node, a hash table's entry and the heap's
// own share, rounded up.
constexpr uint64_t kPlaceBytes = 256;

uint64_t TensorBytesOf(const Answer& answer) {
  uint64_t bytes = 0;
  for (const AnswerOutput& output : answer.outputs) bytes += output.bytes.size();
  return bytes;
}

}  // namespace

uint64_t KeptAnswer::BytesOf(const Answer& answer) {
  return kPlaceBytes + sizeof(KeptAnswer) + answer.outputs.size() * sizeof(AnswerOutput) +
         TensorBytesOf(answer);
}

KeptAnswer::KeptAnswer(const Answer& answer)
    : bytes_(new char[TensorBytesOf(answer)]),
      outputs_(answer.outputs.begin(), answer.outputs.end()) {
  char* at = bytes_.get();
  for (AnswerOutput& output : outputs_) {
    MPSD_CHECK(output.region.name.empty());
    if (!output.bytes.empty()) std::memcpy(at, output.bytes.data(), output.bytes.size());
    output.bytes = absl::string_view(at, output.bytes.size());
    at += output.bytes.size();
  }
}

Answer KeptAnswer::View() const {
  Answer answer;
  answer.outputs.assign(outputs_.begin(), outputs_.end());
  return answer;
}

}  // namespace mpsd
