#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "proto/base/limits.h"
#include "server/cache/model_cache.h"
#include "server/request/infer_message.h"

namespace mpsd {
namespace {

// A request of two rows with an input of bytes and an optional one.
struct Content {
  Content() {
    request.rows = 2;
    request.tenant = 1;
    request.rules_version = 1;
    request.wanted_outputs = {0, 1};
    request.inputs.resize(2);
    request.inputs[0].datatype = DataType::kUint8;
    request.inputs[0].dims = {2, 3};
    request.inputs[1].datatype = DataType::kUint8;
    request.inputs[1].dims = {6};
    SetBytes("abcdefABCDEF", "123456789012");
  }

  void SetBytes(const std::string& first, const std::string& second) {
    bytes[0] = first;
    bytes[1] = second;
    for (int i = 0; i < 2; ++i) {
      Empty(&payloads[i]);
      payloads[i].Append(bytes[i]);
      request.inputs[i].payload = &payloads[i];
    }
  }

  static void Empty(Payload* payload) {
    payload->pieces.clear();
    payload->bytes = 0;
  }

  std::string bytes[2];
  Payload payloads[2];
  Request request;
};

std::optional<ContentKey> KeyAfter(const std::function<void(Content*)>& change,
                                   CacheScope scope = CacheScope::kTenant) {
  Content content;
  change(&content);
  return KeyOf(content.request, scope);
}

const std::function<void(Content*)> kUnchanged = [](Content*) {};

TEST(ContentKey, EqualRequestsHaveOneKey) {
  ASSERT_TRUE(KeyAfter(kUnchanged).has_value());
  EXPECT_EQ(KeyAfter(kUnchanged), KeyAfter(kUnchanged));
}

TEST(ContentKey, ThePiecesInWhichBytesCameDoNotMatter) {
  const auto in_pieces = [](Content* content) {
    Content::Empty(&content->payloads[0]);
    content->payloads[0].Append(absl::string_view(content->bytes[0]).substr(0, 5));
    content->payloads[0].Append(absl::string_view(content->bytes[0]).substr(5));
  };
  EXPECT_EQ(KeyAfter(kUnchanged), KeyAfter(in_pieces));
}

TEST(ContentKey, WhatDoesNotChangeTheAnswerIsNotInIt) {
  const auto elsewhere = [](Content* content) {
    content->request.arrival_ns = 7;
    content->request.deadline_ns = 8;
    content->request.level = 1;
    content->request.token_count = 9;
  };
  EXPECT_EQ(KeyAfter(kUnchanged), KeyAfter(elsewhere));
}

TEST(ContentKey, DiffersByEachPart) {
  const std::pair<const char*, std::function<void(Content*)>> changes[] = {
      {"a byte", [](Content* c) { c->SetBytes("abcdefABCDEf", "123456789012"); }},
      {"the input that has the bytes",
       [](Content* c) { c->SetBytes("123456789012", "abcdefABCDEF"); }},
      {"where one input ends", [](Content* c) { c->SetBytes("abcdefABCDEF1", "23456789012"); }},
      {"the dims",
       [](Content* c) {
         c->request.inputs[0].dims = {3, 2};
       }},
      {"the rank", [](Content* c) { c->request.inputs[0].dims = {6}; }},
      {"the rows", [](Content* c) { c->request.rows = 1; }},
      {"the datatype", [](Content* c) { c->request.inputs[0].datatype = DataType::kInt8; }},
      {"an input that is left out",
       [](Content* c) { c->request.inputs[1].datatype = DataType::kInvalid; }},
      {"the outputs", [](Content* c) { c->request.wanted_outputs = {0}; }},
      {"their order",
       [](Content* c) {
         c->request.wanted_outputs = {1, 0};
       }},
      {"the tenant", [](Content* c) { c->request.tenant = 2; }},
      {"the rules that numbered it", [](Content* c) { c->request.rules_version = 2; }},
  };
  const auto same = KeyAfter(kUnchanged);
  for (const auto& [what, change] : changes) EXPECT_NE(KeyAfter(change), same) << what;
}

TEST(ContentKey, TenantsShareWhereTheConfigSaysSo) {
  const auto other = [](Content* content) {
    content->request.tenant = 2;
    content->request.rules_version = 5;
  };
  EXPECT_EQ(KeyAfter(kUnchanged, CacheScope::kShared), KeyAfter(other, CacheScope::kShared));
}

TEST(ContentKey, ATenantThatMayBeSeveralHasNone) {
  const auto last = [](Content* content) { content->request.tenant = kMaxTenants - 1; };
  EXPECT_FALSE(KeyAfter(last).has_value());
  EXPECT_TRUE(KeyAfter(last, CacheScope::kShared).has_value());
}

TEST(ContentKey, LargeInputsHaveNone) {
  const auto of = [](size_t bytes) {
    return KeyAfter([bytes](Content* c) { c->SetBytes(std::string(bytes - 1, 'x'), "y"); });
  };
  EXPECT_TRUE(of(kMostDigestedBytes).has_value());
  EXPECT_FALSE(of(kMostDigestedBytes + 1).has_value());
}

}  // namespace
}  // namespace mpsd
