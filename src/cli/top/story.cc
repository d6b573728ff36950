#include "cli/top/story.h"

#include "cli/link/run_link.h"
#include "store/runs/event_log.h"
#include "store/runs/explain.h"
#include "store/runs/run_dir.h"

namespace plimsoll::cli::top {

std::string story_of(const StoryPlace& place, std::string_view job) {
  if (place.run == kDaemon) return "What the daemon decides about its jobs is not recorded.\n";
  auto entry = report::find_run(place.runs_dir, place.run);
  if (!entry) return "What was decided is not recorded: " + entry.error().message() + "\n";
  auto all = report::read_events(entry->path + "/events.jsonl");
  if (!all) return "What was decided cannot be read: " + all.error().message() + "\n";
  const auto events = report::events_of(*all, job);
  if (events.empty()) return "Nothing is recorded of the job yet.\n";
  return report::explain_job(*entry, events, std::nullopt, {.width = place.width});
}

}  // namespace plimsoll::cli::top
