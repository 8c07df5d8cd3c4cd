#include "load_tests/options/duration_option.h"

#include "absl/status/statusor.h"
#include "proto/base/units.h"

namespace mpsd::load {

int64_t DurationNs(const std::string& text) {
  const absl::StatusOr<int64_t> parsed = ParseDurationNs(text);
  if (!parsed.ok()) throw CLI::ValidationError(std::string(parsed.status().message()));
  return *parsed;
}

CLI::Option* AddDuration(CLI::App* app, const std::string& name, int64_t* ns,
                         const std::string& standard, const std::string& help) {
  if (!standard.empty()) *ns = DurationNs(standard);
  return app->add_option_function<std::string>(
      name, [ns](const std::string& text) { *ns = DurationNs(text); },
      standard.empty() ? help : help + " (default " + standard + ")");
}

}  // namespace mpsd::load
