#include "worker/execute/precision_policy.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mpsd {
namespace {

double Milliseconds(int64_t duration_ns) { return static_cast<double>(duration_ns) / 1e6; }

}  // namespace

std::vector<Precision> PrecisionCandidates(const PrecisionFacts& facts) {
  if (facts.device == "cpu") {
    return facts.cpu_has_bf16 ? std::vector<Precision>{Precision::kBf16} : std::vector<Precision>{};
  }
  const bool is_cuda = absl::StartsWith(facts.device, "cuda");
  if (!is_cuda && !absl::StartsWith(facts.device, "mps")) return {};
  std::vector<Precision> candidates;
  if (facts.saved_in_fp16) candidates.push_back(Precision::kFp16);
  candidates.push_back(Precision::kBf16);
  if (facts.samples_are_real && !facts.saved_in_fp16) candidates.push_back(Precision::kFp16);
  if (is_cuda) candidates.push_back(Precision::kTf32);
  return candidates;
}

std::string AgreementFault(const Agreement& agreement, const AgreementBounds& bounds) {
  const std::string where = absl::StrCat(" in output '", agreement.output, "'");
  if (!agreement.same_finite) return absl::StrCat("it gives no finite numbers", where);
  if (!agreement.is_alike) return absl::StrCat("it gives another answer", where);
  if (!(agreement.cosine >= bounds.least_cosine)) {
    return absl::StrFormat("its cosine to fp32 is %.5f%s, below %.4f", agreement.cosine, where,
                           bounds.least_cosine);
  }
  if (agreement.relative_error <= bounds.most_relative_error) return "";
  return absl::StrFormat("it differs from fp32 by %.2g of the largest number%s, more than %.2g",
                         agreement.relative_error, where, bounds.most_relative_error);
}

std::string GainFault(int64_t fp32_ns, int64_t took_ns) {
  const double gain = static_cast<double>(fp32_ns) / static_cast<double>(took_ns > 0 ? took_ns : 1);
  if (gain >= kLeastGain) return "";
  return absl::StrFormat("it takes %.3g ms where fp32 takes %.3g ms", Milliseconds(took_ns),
                         Milliseconds(fp32_ns));
}

}  // namespace mpsd
