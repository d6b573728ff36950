#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::metrics {

// How metrics are written: OpenMetrics 1.0, or the older text format 0.0.4 of Prometheus.
enum class Exposition : std::uint8_t { open_metrics, text };

// What a client that sends this Accept header gets: OpenMetrics if it names that and does not
// refuse it by a weight of 0.
[[nodiscard]] Exposition exposition_for(std::string_view accept);
[[nodiscard]] std::string_view content_type(Exposition exposition);

// The families as one document. Families without a value are left out.
[[nodiscard]] std::string expose(const std::vector<prometheus::MetricFamily>& families,
                                 Exposition exposition);

}  // namespace plimsoll::metrics
