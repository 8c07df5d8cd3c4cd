// OpenMetricsText: the metrics page in OpenMetrics' form, with exemplars.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/telemetry/stage_exemplars.h"

namespace mpsd {

inline constexpr char kOpenMetricsType[] =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

// `text` is Prometheus' (MetricsPage::Text()); a scraper that changes the form continues its
// series. A counter whose name does not end in "_total" becomes "unknown", since OpenMetrics allows
// no such counter. Pure.
std::string OpenMetricsText(absl::string_view text, const StageExemplars::Series& exemplars);

}  // namespace mpsd
