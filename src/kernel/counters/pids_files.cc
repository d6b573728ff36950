#include "kernel/counters/pids_files.h"

#include "kernel/counters/parse_single.h"

namespace plimsoll::counters {

PidsFiles::PidsFiles(const cgroup::Group& group) {
  const cgroup::Directory* directory = group.of(cgroup::Controller::pids);
  if (directory == nullptr) {
    missing_ = "the group has no pids controller";
    return;
  }
  current_ = KernelFile(*directory, "pids.current", "pids.current");
  peak_ = KernelFile(*directory, "pids.peak", "pids.peak");
  events_ = KernelFile(*directory, "pids.events", "pids.events_max");
}

void PidsFiles::read(Level level, PidsUsage& pids, std::string& buffer) {
  if (const auto text = current_.read(buffer)) pids.current = parse_count(*text);
  if (level == Level::cheap) return;
  if (const auto text = peak_.read(buffer)) pids.peak = parse_count(*text);
  if (const auto text = events_.read(buffer)) pids.events_max = parse_pids_events(*text);
}

void PidsFiles::note(Unavailable& unavailable) const {
  if (!missing_.empty()) unavailable.insert_or_assign("pids", missing_);
  for (const auto* file : {&current_, &peak_, &events_}) file->note(unavailable);
}

}  // namespace plimsoll::counters
