#include <algorithm>
#include <string>

#include "proto/orca.pb.h"
#include "server/control/model_methods.h"
#include "server/telemetry/load_sampler.h"

namespace mpsd {
namespace {

using OrcaRequest = xds::service::orca::v3::OrcaLoadReportRequest;

constexpr int64_t kMostPauseS = 3600;

// An unreadable request gets no report either.
int64_t PauseNs(absl::string_view bytes) {
  OrcaRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return 0;
  const google::protobuf::Duration& interval = request.report_interval();
  const int64_t seconds = std::clamp<int64_t>(interval.seconds(), 0, kMostPauseS);
  return std::max(seconds * kNsPerSecond + interval.nanos(), LoadSampler::kSampleNs);
}

}  // namespace

void AddLoadMethods(LoadSampler* sampler, MethodTable* table) {
  table->AddPeriodic(
      "/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics", PauseNs,
      [sampler](const CallerInfo&, absl::string_view bytes, std::string* response) -> absl::Status {
        OrcaRequest request;
        if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
          return absl::InvalidArgumentError("the bytes are not a request of this method");
        }
        *response = sampler->Now()->named.bytes;
        return absl::OkStatus();
      });
}

}  // namespace mpsd
