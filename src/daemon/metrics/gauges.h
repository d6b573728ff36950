#pragma once

#include <prometheus/metric_family.h>

#include <string_view>
#include <vector>

#include "daemon/metrics/snapshot.h"

namespace plimsoll::metrics {

// What follows from the snapshot alone, as families behind those that are there. Pure.
void append_gauges(std::vector<prometheus::MetricFamily>& families, const Snapshot& snapshot,
                   std::string_view version);

}  // namespace plimsoll::metrics
