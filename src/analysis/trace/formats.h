#pragma once

#include <string>

#include "analysis/trace/trace.h"

// A trace in the formats of viewers. Bytes that are no UTF-8 become U+FFFD.
namespace plimsoll::analysis {

// Perfetto's protobuf: a Trace of TracePackets, times in nanoseconds since the run's start
// (perfetto.dev, "TracePacket").
[[nodiscard]] std::string perfetto_trace(const Trace& trace);

// The JSON of Chrome's trace viewer ("Trace Event Format"), times in microseconds.
[[nodiscard]] std::string chrome_trace(const Trace& trace);

}  // namespace plimsoll::analysis
