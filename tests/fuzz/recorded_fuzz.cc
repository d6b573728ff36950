#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "history/curve.h"
#include "record/buildkit.h"
#include "record/event_log.h"
#include "record/reasons.h"
#include "record/recorded_job.h"
#include "record/run_meta.h"

// Any text in the place of what was stored or recorded.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto curve = history::parse_curve(text)) {
    PLIMSOLL_CHECK(history::parse_curve(history::curve_text(*curve)) == curve);
  }
  if (const auto event = record::parse_event(text)) {
    const auto again = record::parse_event(record::to_json(*event));
    PLIMSOLL_CHECK(again && again->reason == event->reason);
  }
  (void)record::parse_meta(text);
  (void)record::parse_figures(text);
  (void)record::parse_job_brief(text);
  if (const auto job = record::parse_recorded_job(text)) {
    (void)record::to_buildkit_json({.usage = job->usage, .machine = job->machine, .system = {}});
  }
  (void)record::to_buildkit_json({.usage = {}, .system = record::parse_system_samples(text)});
  record::MergedReason reason(text);
  reason.add(text);
  PLIMSOLL_CHECK(record::without_numbers(reason.text()) == record::without_numbers(text));
  return 0;
}
