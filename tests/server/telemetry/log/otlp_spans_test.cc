#include "server/telemetry/log/otlp_spans.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "proto/encoding/protobuf_reader.h"
#include "server/telemetry/log/otlp_message.h"

namespace mpsd {
namespace {

using testing::SizeIs;

// The values of all fields with bytes or eight bytes, by number.
std::multimap<uint32_t, std::string> Fields(absl::string_view message) {
  std::multimap<uint32_t, std::string> fields;
  ProtobufReader reader(message);
  while (reader.Next()) {
    const bool is_number = reader.type() == WireType::kVarint;
    fields.emplace(reader.field(),
                   is_number ? std::to_string(reader.number()) : std::string(reader.text()));
  }
  EXPECT_FALSE(reader.malformed());
  return fields;
}

std::string Only(const std::multimap<uint32_t, std::string>& fields, uint32_t number) {
  EXPECT_EQ(fields.count(number), 1U) << number;
  const auto found = fields.find(number);
  return found == fields.end() ? "" : found->second;
}

class OtlpSpansTest : public testing::Test {
 protected:
  OtlpSpansTest() {
    span_.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
    span_.parent_id = "00f067aa0ba902b7";
    span_.id = "0102030405060708";
    request_.span = &span_;
    request_.model = "m";
    request_.version = "1";
    request_.code = "OK";
    request_.arrival_ns = 0x0102030405060708;
    request_.ended_ns = request_.arrival_ns + 1;
  }

  std::string Spans() {
    const std::string ids[4] = {"1111111111111111", "2222222222222222", "3333333333333333",
                                "4444444444444444"};
    return OtlpSpans(request_, SpansOf(request_, ids));
  }
  std::multimap<uint32_t, std::string> Whole() {
    const auto spans = Fields(Spans());
    EXPECT_FALSE(spans.empty());
    return spans.empty() ? spans : Fields(spans.begin()->second);
  }

  RequestSpan span_;
  EndedRequest request_;
};

TEST_F(OtlpSpansTest, IdsAndTimesAreBytes) {
  const auto whole = Whole();
  EXPECT_EQ(Only(whole, 1), "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36");
  EXPECT_EQ(Only(whole, 2), "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(Only(whole, 4), std::string("\x00\xf0\x67\xaa\x0b\xa9\x02\xb7", 8));
  EXPECT_EQ(Only(whole, 5), "request");
  EXPECT_EQ(Only(whole, 6), "2") << "a server's";
  EXPECT_EQ(Only(whole, 7), "\x08\x07\x06\x05\x04\x03\x02\x01") << "the lowest byte first";
  EXPECT_EQ(Only(Fields(Only(whole, 15)), 3), "1");
  EXPECT_EQ(whole.count(9), 5U) << "attributes, an empty one too";
}

TEST_F(OtlpSpansTest, ATraceMayBeginHere) {
  span_.parent_id.clear();
  EXPECT_EQ(Whole().count(4), 0U);
}

TEST_F(OtlpSpansTest, StagesHaveNoAttributes) {
  request_.batched_ns = request_.started_ns = request_.finished_ns = request_.arrival_ns;
  const auto spans = Fields(Spans());
  ASSERT_THAT(spans, SizeIs(5));
  const auto stage = Fields(spans.rbegin()->second);
  EXPECT_EQ(Only(stage, 5), "respond");
  EXPECT_EQ(Only(stage, 6), "1");
  EXPECT_EQ(stage.count(9) + stage.count(15), 0U);
}

TEST_F(OtlpSpansTest, ClientsTextsAreCutAndBecomeUtf8) {
  const std::string id = std::string(kSpanTextBytes - 1, 'x') + "\xC3\xA4";  // half of it fits
  request_.id = id;
  request_.model = "\xff";
  std::map<std::string, std::string> attributes;
  for (const auto& [number, value] : Whole()) {
    if (number != 9) continue;
    const auto attribute = Fields(value);
    attributes[Only(attribute, 1)] = Only(attribute, 2);
  }
  EXPECT_EQ(Only(Fields(attributes["request_id"]), 1), id.substr(0, kSpanTextBytes - 1));
  EXPECT_EQ(Only(Fields(attributes["model_name"]), 1), "\xEF\xBF\xBD");
}

TEST_F(OtlpSpansTest, AMessageHasAllRequestsUnderOneResource) {
  const std::vector<std::string> requests = {Spans(), Spans()};
  const auto resource_spans = Fields(Only(Fields(OtlpMessage({{"host.name", "h"}}, requests)), 1));
  const auto attribute = Fields(Only(Fields(Only(resource_spans, 1)), 1));
  EXPECT_EQ(Only(attribute, 1), "host.name");
  EXPECT_EQ(Only(Fields(Only(attribute, 2)), 1), "h");
  const auto scope_spans = Fields(Only(resource_spans, 2));
  EXPECT_EQ(Only(Fields(Only(scope_spans, 1)), 1), "mpsd");
  EXPECT_EQ(scope_spans.count(2), 2U);
}

}  // namespace
}  // namespace mpsd
