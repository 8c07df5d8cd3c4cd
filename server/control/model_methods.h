// ModelMethods: the methods that tell clients the state of server and models.
#pragma once

#include <functional>
#include <string>

#include "server/http/calls/method_table.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

class LoadSampler;

// They read the ModelDirectory and change nothing, on the thread of their call, without blocking.
// An answer is a snapshot.
//
//   generation of the model       Check         Watch            ModelReady  ModelMetadata
//   none is published             NOT_FOUND     SERVICE_UNKNOWN  false       NOT_FOUND
//   published, spec not complete  NOT_SERVING   NOT_SERVING      false       UNAVAILABLE
//   published, no worker serves   NOT_SERVING   NOT_SERVING      false       the spec
//   published, a worker serves    SERVING       SERVING          true        the spec
//
// Outside ServingStage::kServing neither the daemon nor any model is ready. ModelConfig answers
// like ModelMetadata.

// For ServerMetadata.
struct ServerFacts {
  std::string name;
  std::string version;
  bool writes_traces = false;
  bool takes_shared_memory = false;  // clients may register system memory
  // whether clients may register CUDA memory now; called by any thread
  std::function<bool()> takes_device_memory;
};

// ServerLive, ServerReady, ServerMetadata, ModelReady and ModelMetadata. ModelReady refuses only a
// version that is no number; an unknown model is "not ready". `models` outlives the table.
// REQUIRES: takes_device_memory is set.
void AddInferenceMethods(const ModelDirectory* models, const ServerFacts& facts,
                         MethodTable* table);

// Check and Watch of grpc.health.v1.Health. The empty name and "inference.GRPCInferenceService"
// stand for the server. Any other name stands for a model, in any version. `models` outlives the
// table.
void AddHealthMethods(const ModelDirectory* models, MethodTable* table);

// ModelConfig: spec, placement and queue as a Triton model configuration. A model's lanes are one
// instance group, or two if some devices have one process more. `models` outlives the table.
void AddModelConfigMethod(const ModelDirectory* models, MethodTable* table);

// ModelStatistics, since the models were first loaded: a reload does not reset them. An empty name
// stands for all models, an empty version for all versions; NOT_FOUND for a name that FindServed()
// does not know. A model's memory is its workers' resident memory, left out while there is none.
// The referents outlive the table.
void AddStatisticsMethod(const ModelDirectory* models, const WorkerStatusSource* workers,
                         MethodTable* table);

// StreamCoreMetrics of xds.service.orca.v3.OpenRcaService: load reports for clients that balance.
// One comes at once, then one for each interval that the client asks for, at least
// LoadSampler::kSampleNs. All streams share one sample. `sampler` outlives the table.
void AddLoadMethods(LoadSampler* sampler, MethodTable* table);

}  // namespace mpsd
