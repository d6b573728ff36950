#include "supervisor/processes/small_processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "kernel/procfs/table.h"

namespace plimsoll::supervisor {
namespace {

// What it has in memory, pages of files included; nothing if it is gone.
std::optional<Bytes> resident(int pid) {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/statm");
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  take_until(rest, ' ');
  const auto pages = to_u64(take_until(rest, ' '));
  if (!pages) return std::nullopt;
  return Bytes{*pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

}  // namespace

SmallProcesses::SmallProcesses(loop::Loop& loop, SmallProcessesObserver& observer)
    : observer_(observer), timer_(loop.timer([this] { look(); })) {}

bool SmallProcesses::has_room(Bytes peak, Bytes line) const {
  if (processes_.size() >= kMost) return false;
  Bytes taken = peak + kTables;
  for (const SmallProcess& process : processes_) taken += process.peak + kTables;
  return taken <= Bytes{line.count / kOfLine};
}

void SmallProcesses::add(SmallProcess process) {
  if (processes_.empty()) timer_.set(loop::now() + kLook);
  processes_.push_back(std::move(process));
}

std::optional<SmallProcess> SmallProcesses::take(JobId process) {
  const auto found =
      std::find_if(processes_.begin(), processes_.end(),
                   [process](const SmallProcess& each) { return each.id == process; });
  if (found == processes_.end()) return std::nullopt;
  SmallProcess taken = std::move(*found);
  processes_.erase(found);
  return taken;
}

void SmallProcesses::look() {
  const Instant now = loop::now();
  std::vector<SmallProcess> ended, grown, stay;
  for (SmallProcess& process : processes_) {
    if (procfs::has_ended(process.pidfd.get())) {
      ended.push_back(std::move(process));
    } else if (now - process.since >= kStays || resident(process.pid).value_or(Bytes{}) >= kGrown) {
      grown.push_back(std::move(process));
    } else {
      stay.push_back(std::move(process));
    }
  }
  processes_ = std::move(stay);
  for (const SmallProcess& process : ended) observer_.on_small_ended(process.id);
  for (SmallProcess& process : grown) observer_.on_grown(std::move(process));
  if (!processes_.empty()) timer_.set(now + kLook);
}

}  // namespace plimsoll::supervisor
