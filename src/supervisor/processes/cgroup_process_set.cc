#include "supervisor/processes/cgroup_process_set.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <chrono>

#include "base/file.h"
#include "kernel/cgroup/limits.h"
#include "kernel/cgroup/remove.h"

namespace plimsoll::supervisor {
Result<PauseGuard> PauseGuard::pause(std::shared_ptr<const cgroup::Group> group,
                                     std::optional<double> cpus) {
  if (cpus) {
    // A quota that stays makes the freeze late, not wrong.
    [[maybe_unused]] const auto ignored = cgroup::set_cpus(*group, std::nullopt);
  }
  auto frozen = cgroup::FreezeGuard::freeze(*group);
  if (!frozen) {
    if (cpus) [[maybe_unused]]
      const auto ignored = cgroup::set_cpus(*group, cpus);
    return pass(std::move(frozen));
  }
  return PauseGuard(std::move(group), cpus, std::move(*frozen));
}

PauseGuard::~PauseGuard() {
  if (group_ == nullptr) return;
  frozen_.reset();
  if (cpus_) [[maybe_unused]]
    const auto ignored = cgroup::set_cpus(*group_, cpus_);
}

CgroupProcessSet::CgroupProcessSet(const Deps& deps, ProcessSetObserver& observer, JobGroup group,
                                   Around around)
    : deps_(deps),
      observer_(observer),
      around_(std::move(around)),
      group_(std::move(group.group)),
      limits_(std::move(group.limits)),
      entrances_(std::move(group.entrances)),
      sampler_(std::in_place, *group_, std::move(group.files), loop::now(), deps.network) {}

CgroupProcessSet::~CgroupProcessSet() {
  if (around_.stock != nullptr) around_.stock->forget(group_->name());
}

Result<guardian::ChildId> CgroupProcessSet::spawn(guardian::SpawnRequest request) {
  for (const UniqueFd& entrance : entrances_) request.v1_entrances.push_back(entrance.get());
  return deps_.spawner.spawn_in(*group_, std::move(request), observer_);
}

void CgroupProcessSet::adopt(int main) {
  main_ = main;
  vacancy_timer_ = deps_.loop.timer([this] { look_for_vacancy(); });
  vacancy_timer_.set(loop::now());
  auto ended = deps_.loop.watch(main, EPOLLIN, [this](std::uint32_t) {
    main_watch_ = {};
    look_for_vacancy();
  });
  if (ended) main_watch_ = std::move(*ended);
  if (group_->v2() == nullptr) return;
  auto events = group_->v2()->open_file("cgroup.events", O_RDONLY);
  if (!events) return;
  auto watch =
      deps_.loop.watch(events->get(), EPOLLPRI, [this](std::uint32_t) { look_for_vacancy(); });
  if (!watch) return;
  events_ = std::move(*events);
  events_watch_ = std::move(*watch);
}

// Only a read makes the kernel tell of the next change.
void CgroupProcessSet::look_for_vacancy() {
  std::string text;
  if (events_) [[maybe_unused]]
    const auto read = read_text_into(events_.get(), text);
  if (!occupancy_) occupancy_.emplace(*group_, cgroup::Scope::v2_first);
  const auto lives = occupancy_->step();
  if (!lives) return vacancy_timer_.set(loop::now());
  occupancy_.reset();
  const bool is_over = *lives ? !**lives : lives->error().gone();
  if (is_over) {
    stop_looking();
    observer_.on_vacated(end_of_process(main_));
  } else if (!events_) {
    vacancy_timer_.set(loop::now() + kVacancyLook);
  }
}

void CgroupProcessSet::stop_looking() {
  main_watch_ = {};
  events_watch_ = {};
  events_ = {};
  vacancy_timer_ = {};
  occupancy_.reset();
}

OomKills CgroupProcessSet::watch_oom() {
  const cgroup::Directory* memory = group_->of(cgroup::Controller::memory);
  if (memory == nullptr || memory->version() != cgroup::Version::v1) return OomKills::whole;
  if (!limits_.memory_max) return OomKills::singly;
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
  was_touched_ = true;
  auto paused = PauseGuard::pause(group_, limits_.cpus);
  if (paused) paused_.emplace(std::move(*paused));
}

void CgroupProcessSet::signal_all(int number) {
  signals_.push_back(number);
  if (signals_.size() == 1) signal_some();
}

// One signal after the other.
void CgroupProcessSet::signal_some() {
  while (!signals_.empty()) {
    if (!signal_walk_) signal_walk_.emplace(*group_, signals_.front());
    if (signal_walk_->step()) {
      if (!signal_timer_) signal_timer_.emplace(deps_.loop.timer([this] { signal_some(); }));
      return signal_timer_->set(loop::now());
    }
    signal_walk_.reset();
    signals_.pop_front();
  }
}

const counters::Sample& CgroupProcessSet::sample(Instant now, WallTime wall, counters::Level level,
                                                 counters::SampleState state) {
  was_touched_ = true;
  entrances_.clear();  // which were for the next job
  return sampler_->sample(now, wall, level, state);
}

counters::JobUsage CgroupProcessSet::finish(Instant now, WallTime wall) {
  oom_watch_ = {};
  counters::JobUsage usage = usage_ ? std::move(*usage_) : sampler_->finish(now, wall);
  sampler_.reset();
  return usage;
}

// The group of a job that has ended by itself, for the next one. Whether it is taken.
bool CgroupProcessSet::put_back() {
  if (around_.stock == nullptr || was_touched_) return false;
  if (cgroup::populated(*group_, cgroup::Scope::every_part).value_or(true)) return false;
  const Instant now = loop::now();
  usage_ = sampler_->finish(now, std::chrono::system_clock::now());
  // Who has ended may have packets on their way.
  const auto& network = usage_->totals.network;
  if (network && network->rx_packets + network->tx_packets > 0) return false;
  JobGroup group{group_, limits_, std::move(entrances_), sampler_->take_files()};
  if (!around_.stock->put(std::move(group), now)) return false;
  if (auto displaced = around_.stock->take_displaced()) {
    const auto remove = [displaced] {
      [[maybe_unused]] const auto removed = cgroup::remove_group(*displaced);
    };
    deps_.worker.submit(remove, [] {});
  }
  around_.stock = nullptr;
  return true;
}

void CgroupProcessSet::reap(reap::LeftBehind left_behind) {
  stop_looking();
  signal_timer_.reset();  // all are killed
  if (left_behind == reap::LeftBehind::list && put_back()) {
    observer_.on_empty();
    return observer_.on_gone({});
  }
  reaper_.emplace(deps_.loop, deps_.worker, group_, reap::ReaperOptions{.left_behind = left_behind},
                  observer_);
  reaper_->start();
}

}  // namespace plimsoll::supervisor
