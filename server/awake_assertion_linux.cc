#include "server/keep_awake.h"

namespace mpsd {

std::unique_ptr<AwakeAssertion> AwakeAssertion::OfHost() { return nullptr; }

}  // namespace mpsd
