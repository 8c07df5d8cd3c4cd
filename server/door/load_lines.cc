#include "server/door/load_lines.h"

#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd {

void AddLoadReport(GrpcKind kind, LoadSampler* sampler, bool names, HttpCall* call) {
  const absl::string_view format = call->request().Header("endpoint-load-metrics-format");
  if (format.empty() || sampler == nullptr) return;
  const std::shared_ptr<const LoadSampler::Sample> sample = sampler->Now();
  const OrcaForms& forms = names ? sample->named : sample->nameless;
  if (kind == GrpcKind::kOwn) {
    call->AddTrailers(
        absl::StrCat("endpoint-load-metrics-bin: ", absl::Base64Escape(forms.bytes), "\r\n"));
  } else if (absl::EqualsIgnoreCase(format, "text")) {
    call->AddHeaders(absl::StrCat("endpoint-load-metrics: TEXT ", forms.text, "\r\n"));
  } else if (absl::EqualsIgnoreCase(format, "json")) {
    call->AddHeaders(absl::StrCat("endpoint-load-metrics: JSON ", forms.json, "\r\n"));
  }
}

}  // namespace mpsd
