#include "test_service.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"
#include "proto/orca.pb.h"
#include "proto/orca_load_report.pb.h"

namespace mpsd {
namespace {

constexpr int32_t kMostBytes = 16 << 20;  // a response has no more

template <typename Message>
absl::Status Read(absl::string_view bytes, Message* message) {
  if (message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return absl::InvalidArgumentError("the bytes are not a request of this method");
}

template <typename Request>
absl::Status CheckCompressed(const Request& request, bool is_compressed) {
  if (!request.has_expect_compressed()) return absl::OkStatus();
  if (request.expect_compressed().value() == is_compressed) return absl::OkStatus();
  return absl::InvalidArgumentError("the message is not as compressed as it says");
}

template <typename Request>
absl::Status AskedStatus(const Request& request) {
  const auto code = static_cast<absl::StatusCode>(request.response_status().code());
  return absl::Status(code, request.response_status().message());
}

template <typename Response>
absl::Status Write(int32_t size, Response* response, std::string* bytes) {
  if (size < 0 || size > kMostBytes) return absl::InvalidArgumentError("no size of a response");
  response->mutable_payload()->mutable_body()->resize(static_cast<size_t>(size));
  *bytes = response->SerializeAsString();
  return absl::OkStatus();
}

std::string LoadOf(const grpc::testing::TestOrcaReport& asked) {
  xds::data::orca::v3::OrcaLoadReport report;
  report.set_cpu_utilization(asked.cpu_utilization());
  report.set_mem_utilization(asked.memory_utilization());
  *report.mutable_request_cost() = asked.request_cost();
  *report.mutable_utilization() = asked.utilization();
  return report.SerializeAsString();
}

int64_t PauseNs(absl::string_view bytes) {
  xds::service::orca::v3::OrcaLoadReportRequest request;
  if (!Read(bytes, &request).ok()) return kNsPerSecond;
  return request.report_interval().seconds() * kNsPerSecond + request.report_interval().nanos();
}

}  // namespace

void TestService::AddTo(MethodTable* table, bool calls_too) {
  using Kind = MethodTable::Kind;
  table->Add(absl::StrCat(kTestService, "EmptyCall"), Kind::kUnary,
             [](const CallerInfo&, absl::string_view, std::string* response) {
               response->clear();
               return absl::OkStatus();
             });
  table->AddPeriodic("/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics", PauseNs,
                     [this](const CallerInfo&, absl::string_view, std::string* response) {
                       absl::MutexLock lock(&mu_);
                       *response = load_;
                       return absl::OkStatus();
                     });
  if (!calls_too) return;
  table->Add(absl::StrCat(kTestService, "UnaryCall"), Kind::kUnary,
             [](const CallerInfo&, absl::string_view request, std::string* response) {
               std::string load;
               return Unary(request, /*is_compressed=*/false, response, &load);
             });
  table->Add(absl::StrCat(kTestService, "FullDuplexCall"), Kind::kConversation,
             [this](const CallerInfo&, absl::string_view request, std::string* response) {
               std::vector<TimedResponse> responses;
               absl::Status status = Stream(request, &responses);
               if (status.ok() && responses.size() != 1) {
                 status = absl::UnimplementedError("a conversation has one response a request");
               }
               if (status.ok()) *response = std::move(responses[0].bytes);
               return status;
             });
}

absl::Status TestService::Unary(absl::string_view bytes, bool is_compressed, std::string* response,
                                std::string* load) {
  grpc::testing::SimpleRequest request;
  absl::Status status = Read(bytes, &request);
  if (status.ok()) status = CheckCompressed(request, is_compressed);
  if (status.ok()) status = AskedStatus(request);
  if (!status.ok()) return status;
  if (request.has_orca_per_query_report()) *load = LoadOf(request.orca_per_query_report());
  grpc::testing::SimpleResponse answer;
  if (request.fill_server_id()) answer.set_server_id("the only one");
  return Write(request.response_size(), &answer, response);
}

absl::Status TestService::Stream(absl::string_view bytes, std::vector<TimedResponse>* responses) {
  grpc::testing::StreamingOutputCallRequest request;
  absl::Status status = Read(bytes, &request);
  if (status.ok()) status = AskedStatus(request);
  if (status.ok() && request.has_orca_oob_report()) {
    absl::MutexLock lock(&mu_);
    load_ = LoadOf(request.orca_oob_report());
  }
  for (const auto& asked : request.response_parameters()) {
    if (!status.ok()) break;
    TimedResponse& timed = responses->emplace_back();
    timed.pause_ns = int64_t{asked.interval_us()} * 1000;
    grpc::testing::StreamingOutputCallResponse answer;
    status = Write(asked.size(), &answer, &timed.bytes);
  }
  return status;
}

absl::Status TestService::Input(absl::string_view bytes, bool is_compressed, int64_t* sum) {
  grpc::testing::StreamingInputCallRequest request;
  absl::Status status = Read(bytes, &request);
  if (status.ok()) status = CheckCompressed(request, is_compressed);
  *sum += static_cast<int64_t>(request.payload().body().size());
  return status;
}

std::string TestService::SumOf(int64_t sum) {
  grpc::testing::StreamingInputCallResponse response;
  response.set_aggregated_payload_size(static_cast<int32_t>(sum));
  return response.SerializeAsString();
}

}  // namespace mpsd
