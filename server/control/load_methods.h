// LoadMethods: xds.service.orca.v3.OpenRcaService, load reports for clients that balance.
#pragma once

#include "server/entry/method_table.h"
#include "server/telemetry/load_sampler.h"

namespace mpsd {

// Adds StreamCoreMetrics: a report at once, then one for each interval that the client asks for, or
// LoadSampler::kSampleNs if that is longer. The streams of all clients share one sample. A client
// that does not read gets no further reports, and its call ends like any other whose answers are
// not taken. `sampler` outlives the table.
void AddLoadMethods(LoadSampler* sampler, MethodTable* table);

}  // namespace mpsd
