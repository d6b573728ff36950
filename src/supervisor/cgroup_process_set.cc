#include "supervisor/cgroup_process_set.h"

#include <sys/epoll.h>

#include "kernel/cgroup/limits.h"
#include "kernel/cgroup/signals.h"

namespace plimsoll::supervisor {

CgroupProcessSet::CgroupProcessSet(const Deps& deps, ProcessSetObserver& observer,
                                   cgroup::Leaf group, const Limits& limits,
                                   std::shared_ptr<const cgroup::Inner> above)
    : deps_(deps),
      observer_(observer),
      above_(std::move(above)),
      group_(std::make_shared<cgroup::Leaf>(std::move(group))),
      cpus_(limits.cpus),
      has_memory_limit_(limits.memory_max.has_value()),
      sampler_(std::in_place, *group_, loop::now(), deps.network) {}

Result<guardian::ChildId> CgroupProcessSet::spawn(guardian::SpawnRequest request) {
  return deps_.spawner.spawn_in(*group_, std::move(request), observer_);
}

OomKills CgroupProcessSet::watch_oom() {
  const cgroup::Directory* memory = group_->of(cgroup::Controller::memory);
  if (memory == nullptr || memory->version() != cgroup::Version::v1) return OomKills::whole;
  if (!has_memory_limit_) return OomKills::singly;
  own_ooms_.are_seen = false;
  auto event = cgroup::open_v1_oom_event(*memory);
  if (!event) return OomKills::singly;
  oom_event_ = std::move(*event);
  own_ooms_.are_seen = true;
  auto watch = deps_.loop.watch(oom_event_.get(), EPOLLIN, [this](std::uint32_t) {
    [[maybe_unused]] const OwnOoms counted = own_ooms();
    observer_.on_oom();
  });
  if (watch) oom_watch_ = std::move(*watch);
  return OomKills::singly;
}

OwnOoms CgroupProcessSet::own_ooms() {
  std::uint64_t fired = 0;
  if (oom_event_ && ::read(oom_event_.get(), &fired, sizeof fired) == sizeof fired) {
    own_ooms_.count += fired;
  }
  return own_ooms_;
}

void CgroupProcessSet::freeze() {
  auto paused = PauseGuard::pause(group_, cpus_);
  if (paused) paused_.emplace(std::move(*paused));
}

void CgroupProcessSet::signal_all(int number) { cgroup::signal_all(*group_, number); }

const counters::Sample& CgroupProcessSet::sample(Instant now, WallTime wall, counters::Level level,
                                                 counters::SampleState state) {
  return sampler_->sample(now, wall, level, state);
}

counters::JobUsage CgroupProcessSet::finish(Instant now, WallTime wall) {
  oom_watch_ = {};
  counters::JobUsage usage = sampler_->finish(now, wall);
  sampler_.reset();
  return usage;
}

void CgroupProcessSet::reap(reap::LeftBehind left_behind) {
  reaper_.emplace(deps_.loop, deps_.worker, group_, reap::ReaperOptions{.left_behind = left_behind},
                  observer_);
  reaper_->start();
}

}  // namespace plimsoll::supervisor
