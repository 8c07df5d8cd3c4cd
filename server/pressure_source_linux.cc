#include "server/memory_watch.h"

namespace mpsd {

std::unique_ptr<PressureSource> PressureSource::OfHost() { return nullptr; }

}  // namespace mpsd
