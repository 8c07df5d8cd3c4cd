// OrcaReport: how loaded this host is, in the forms of ORCA, for proxies and clients that balance.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

// A value. The names are those of xds.data.orca.v3.OrcaLoadReport.
struct OrcaReport {
  double application_utilization = 0;  // largest load or saturation of a model; may exceed 1
  double cpu_utilization = 0;          // share of the usable cores
  double mem_utilization = 0;          // share of the available memory
  double rps_fractional = 0;           // requests a second
  double eps = 0;                      // failures a second that no client is to blame for
  std::vector<std::pair<std::string, double>> named_metrics;  // "load.MODEL", …
};

// A value.
//
//   text    application_utilization=0.5,named_metrics.load.mlp=0.5
//   json    {"application_utilization":0.5,"named_metrics":{"load.mlp":0.5}}
//   bytes   the serialized protobuf message
struct OrcaForms {
  std::string text;
  std::string json;
  std::string bytes;
};

// Figures that are 0 are left out, as protobuf does. Pure.
OrcaForms FormsOf(const OrcaReport& report, bool names);

}  // namespace mpsd
