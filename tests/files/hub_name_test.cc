#include "proto/files/hub_name.h"

#include <gtest/gtest.h>

namespace mpsd::hub {
namespace {

TEST(HubName, HasAnOrgANameAndARevision) {
  const std::optional<HubName> plain = ParseHubName("sentence-transformers/all-MiniLM-L6-v2");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->org, "sentence-transformers");
  EXPECT_EQ(plain->name, "all-MiniLM-L6-v2");
  EXPECT_EQ(plain->revision, "main");
  EXPECT_EQ(plain->Repository(), "sentence-transformers/all-MiniLM-L6-v2");
  EXPECT_EQ(ParseHubName("a/b@refs/pr/1")->revision, "refs/pr/1");
  EXPECT_EQ(ParseHubName("hf:a/b@v1")->Repository(), "a/b") << "as a config has it";
}

TEST(HubName, IsNotAPath) {
  for (const char* text :
       {"", "a", "/a", "a/", "a/b/c", "./a", "../a", "a/..", "a/b..c", "a/b--c", "a/-b", ".a/b",
        "a/b@", "a/b@../c", "a/b@c//d", "a/b@/c", "a b/c", "a/b\n"}) {
    EXPECT_FALSE(ParseHubName(text).has_value()) << text;
  }
  EXPECT_FALSE(ParseHubName("a/" + std::string(97, 'b')).has_value());
  EXPECT_TRUE(ParseHubName("a/" + std::string(96, 'b')).has_value());
}

TEST(HubName, IsThatOfASnapshot) {
  EXPECT_EQ(NameOfSnapshot("/c/models--ORG--NAME/snapshots/12ab"), "NAME");
  EXPECT_EQ(NameOfSnapshot("/c/models--ORG--NAME/snapshots/12ab/"), "NAME");
  for (const char* path :
       {"/c/models--ORG/snapshots/1", "/c/ORG--NAME/snapshots/1", "/c/models--ORG--NAME/blobs/1",
        "/c/models--ORG--/snapshots/1", "NAME"}) {
    EXPECT_FALSE(NameOfSnapshot(path).has_value()) << path;
  }
}

}  // namespace
}  // namespace mpsd::hub
