#include "proto/link/enum_names.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/link/driver_guard.h"
#include "proto/link/input_memory.h"
#include "proto/link/model_format.h"
#include "proto/link/runtime_kind.h"
#include "proto/link/sandbox_level.h"
#include "proto/link/warm_up.h"

namespace mpsd {
namespace {

// Each name in the order of the values, as config files and messages have them.
template <typename Enum>
std::string NamesUpTo(Enum last) {
  std::string names;
  for (size_t i = 0; i <= static_cast<size_t>(last); ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_EQ(FromName<Enum>(NameOf(value)), value);
    names += std::string(NameOf(value)) + " ";
  }
  EXPECT_EQ(kNamesOf<Enum>.size(), static_cast<size_t>(last) + 1);
  return names;
}

TEST(EnumNames, AreTheWordsOfConfigFilesAndMessages) {
  EXPECT_EQ(NamesUpTo(ModelFormat::kSynthetic), "torchscript aoti huggingface synthetic ");
  EXPECT_EQ(NamesUpTo(WarmUp::kAll), "auto none smallest all ");
  EXPECT_EQ(NamesUpTo(SandboxLevel::kStrict), "off basic strict ");
  EXPECT_EQ(NamesUpTo(DriverGuard::kMissing), "none held missing ");
  EXPECT_EQ(NamesUpTo(InputMemory::kCopied), "none in_place copied ");
  EXPECT_EQ(NamesUpTo(RuntimeKind::kUpstreamGuard), "stock patched upstream_pool upstream_guard ");
}

TEST(EnumNames, OtherWordsNameNothing) {
  for (const char* word : {"", "Off", "of", "offx", "basic "}) {
    EXPECT_EQ(FromName<SandboxLevel>(word), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace mpsd
