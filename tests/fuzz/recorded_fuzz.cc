#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "report/buildkit.h"
#include "store/history/columns.h"
#include "store/runs/event_log.h"
#include "store/runs/event_summary.h"
#include "store/runs/recorded_job.h"
#include "store/runs/run_meta.h"

// Any text in the place of what was stored or recorded.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto curve = history::parse_curve(text)) {
    PLIMSOLL_CHECK(history::parse_curve(history::curve_text(*curve)) == curve);
  }
  if (const auto event = report::parse_event(text)) {
    const auto again = report::parse_event(report::to_json(*event));
    PLIMSOLL_CHECK(again && again->reason == event->reason);
  }
  (void)report::parse_meta(text);
  (void)report::parse_figures(text);
  (void)report::parse_job_brief(text);
  if (const auto job = report::parse_recorded_job(text)) {
    (void)report::to_buildkit_json({.usage = job->usage, .machine = job->machine, .system = {}});
  }
  (void)report::to_buildkit_json({.usage = {}, .system = report::parse_system_samples(text)});
  report::MergedReason reason(text);
  reason.add(text);
  PLIMSOLL_CHECK(report::without_numbers(reason.text()) == report::without_numbers(text));
  return 0;
}
