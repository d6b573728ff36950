#include "supervisor/external/external_process_set.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/limits.h"
#include "kernel/counters/group_files.h"
#include "supervisor/external/peer_rights.h"
#include "supervisor/external/process_signals.h"
#include "supervisor/write_meter.h"

namespace plimsoll::supervisor {
namespace {

constexpr std::size_t kPathMax = 4096;

std::optional<Duration> less(std::optional<Duration> now, std::optional<Duration> before) {
  if (!now) return now;
  return *now - before.value_or(Duration{});
}

std::optional<Bytes> moved(const counters::IoUsage& io) {
  if (!io.read && !io.written) return std::nullopt;
  return io.read.value_or(Bytes{}) + io.written.value_or(Bytes{});
}

// Gives a group of somebody else's a weight of CPU time and I/O, and puts back in its destructor
// what it had before, unless somebody has changed it since. A wish: what may not be written or has
// no weight stays as it is. Has handles of its own on the group, so the Group need not live on.
class WeightGuard {
 public:
  WeightGuard(const cgroup::Group& group, unsigned weight);

  WeightGuard(const WeightGuard&) = delete;
  WeightGuard& operator=(const WeightGuard&) = delete;
  ~WeightGuard();

 private:
  struct Place {
    cgroup::Directory directory;
    std::string file;
    std::string before;
    std::string set{};
  };
  void note(const cgroup::Group& group, cgroup::Controller controller, const char* file);

  std::vector<Place> places_;  // those whose weight is another than before
};

WeightGuard::WeightGuard(const cgroup::Group& group, unsigned weight) {
  for (const char* file : {"cpu.weight", "cpu.shares"}) note(group, cgroup::Controller::cpu, file);
  for (const char* file : {"io.weight", "io.bfq.weight", "blkio.bfq.weight", "blkio.weight"}) {
    note(group, cgroup::Controller::io, file);
  }
  Limits limits;
  limits.weight = weight;
  cgroup::weigh(group, limits);
  std::erase_if(places_, [](Place& place) {
    auto now = place.directory.read(place.file);
    if (now) place.set = std::move(*now);
    return !now || place.set == place.before;
  });
}

void WeightGuard::note(const cgroup::Group& group, cgroup::Controller controller,
                       const char* file) {
  const cgroup::Directory* directory = group.of(controller);
  if (directory == nullptr || !directory->has_file(file)) return;
  auto own = directory->clone();
  auto before = directory->read(file);
  if (own && before) places_.push_back({std::move(*own), file, std::move(*before)});
}

// A group that is gone, or may not be written any more, has nobody to tell.
WeightGuard::~WeightGuard() {
  for (const Place& place : places_) {
    const auto now = place.directory.read(place.file);
    if (!now || *now != place.set) continue;
    [[maybe_unused]] const auto put_back = place.directory.write(place.file, place.before);
  }
}

class ExternalCgroup : public ExternalProcessSet {
 public:
  ExternalCgroup(cgroup::Group group, const Peer& peer, ProcessSignals& signals)
      : group_(std::make_shared<const cgroup::Group>(std::move(group))),
        files_(*group_),
        rights_(peer),
        signals_(signals),
        task_(std::make_shared<GroupSignals>(group_, peer)) {}
  // What was changed is put back, with the same rights. Who was to be killed is, though nobody asks
  // again once the freezer is there.
  ~ExternalCgroup() override {
    if (is_killed_) {
      task_->kill_at_once(std::exchange(frozen_, std::nullopt));
      signals_.ask(task_);
    }
    thaw();
    rights_.act([this] { weight_.reset(); });
  }
  ExternalCgroup(const ExternalCgroup&) = delete;
  ExternalCgroup& operator=(const ExternalCgroup&) = delete;

  ExternalSample look(Instant now) override {
    if (stopped_) signal(SIGSTOP);  // who was born since
    files_.read(counters::Level::full, now);
    const counters::Sample sample = files_.latest(counters::Level::full);
    if (!began_) {
      began_ = true;
      cpu_before_ = sample.cpu.usage;
      io_before_ = moved(sample.io);
    }
    ExternalSample seen{.used = sample.memory.used ? sample.memory.used : sample.memory.current,
                        .cpu = less(sample.cpu.usage, cpu_before_),
                        .io = moved(sample.io)};
    if (seen.io) seen.io = *seen.io - io_before_.value_or(Bytes{});
    return seen;
  }

  // Those who were there before may have written long ago.
  std::optional<Bytes> written(Instant now) override {
    if (!proc_) {
      auto proc = procfs::ProcDir::open();
      if (!proc) return std::nullopt;
      proc_.emplace(std::move(*proc));
    }
    if (write_meter_.is_due(now, kWriteLook)) {
      const bool is_first = !write_meter_.looked();
      write_meter_.look(*proc_, *group_, now);
      if (is_first) written_before_ = write_meter_.written().value_or(Bytes{});
    }
    const auto most = write_meter_.written();
    return most ? std::optional(*most - written_before_) : std::nullopt;
  }

  void weigh(unsigned weight) override {
    rights_.act([this, weight] {
      weight_.reset();
      weight_.emplace(*group_, weight);
    });
  }
  // By signals where the freezer is not the peer's.
  void freeze() override {
    if (frozen_ || stopped_) return;
    rights_.act([this] {
      if (auto guard = cgroup::FreezeGuard::freeze(*group_)) frozen_.emplace(std::move(*guard));
    });
    if (frozen_) return;
    stopped_ = true;
    signal(SIGSTOP);
  }
  void thaw() override {
    frozen_.reset();
    if (std::exchange(stopped_, false)) signal(SIGCONT);
  }
  // By signals: the group is somebody else's, who may want to use it again.
  void kill(Instant now) override {
    is_killed_ = true;
    task_->set_kill(now);
    signals_.ask(task_);
  }

 private:
  void signal(int number) {
    task_->set(number);
    signals_.ask(task_);
  }

  std::shared_ptr<const cgroup::Group> group_;
  counters::GroupFiles files_;
  PeerRights rights_;
  bool began_ = false;
  bool stopped_ = false;  // by signals
  bool is_killed_ = false;
  std::optional<Duration> cpu_before_;
  std::optional<Bytes> io_before_;
  std::optional<procfs::ProcDir> proc_;  // once it was asked what is written
  WriteMeter write_meter_;
  Bytes written_before_{};
  std::optional<cgroup::FreezeGuard> frozen_;
  std::optional<WeightGuard> weight_;
  ProcessSignals& signals_;
  std::shared_ptr<GroupSignals> task_;
};

// Whoever is to be stopped or killed is so as the last reading has seen the family, and those born
// since with the next one: it finds them, as a process that stands still neither ends nor has
// children.
class ExternalFamily : public ExternalProcessSet {
 public:
  ExternalFamily(std::shared_ptr<ProcessSnapshot> look, std::shared_ptr<ProcessFamily> family,
                 ProcessSignals& signals, const Peer& peer)
      : look_(std::move(look)),
        family_(std::move(family)),
        signals_(signals),
        task_(std::make_shared<FamilySignals>(
            std::shared_ptr<const procfs::ProcDir>(look_, &look_->proc()), peer.uid)) {}
  // Who was to be killed is, as far as anybody knows who that is.
  ~ExternalFamily() override {
    if (kill_) signal(SIGKILL);
    thaw();
  }
  ExternalFamily(const ExternalFamily&) = delete;
  ExternalFamily& operator=(const ExternalFamily&) = delete;

  ExternalSample look(Instant /*now*/) override {
    if (stopped_) signal(SIGSTOP);  // who was born since
    if (family_->reading == 0) return {};
    const procfs::Usage& usage = family_->usage;
    ExternalSample seen{.used = usage.used, .cpu = usage.user + usage.system, .io = {}};
    if (usage.io) seen.io = usage.io->read + usage.io->written;
    return seen;
  }

  std::optional<Bytes> written(Instant /*now*/) override {
    const auto& io = family_->usage.io;
    return io ? std::optional(io->written) : std::nullopt;
  }

  void weigh(unsigned /*weight*/) override {}
  void freeze() override {
    stopped_ = true;
    signal(SIGSTOP);
  }
  void thaw() override {
    if (kill_) return;
    if (std::exchange(stopped_, false)) signal(SIGCONT);
  }
  // Children of one that dies are nobody's to find: all stand still before the first is killed.
  void kill(Instant now) override {
    if (!kill_) kill_ = {.asked = now, .begun = {}};
    if (!kill_->begun && stopped_ && task_->is_done()) kill_->begun = look_->begun();
    const bool are_known = kill_->begun && family_->reading > *kill_->begun;
    if (are_known || now - kill_->asked >= kReadingPatience) return signal(SIGKILL);
    freeze();
  }

 private:
  // Longer than a reading takes on a busy machine. A guess.
  static constexpr Duration kReadingPatience = std::chrono::seconds(2);
  struct Kill {
    Instant asked{};
    std::optional<std::uint64_t> begun;  // of the readings: a later one has seen them stand still
  };

  void signal(int number) {
    task_->set(number, family_->members);
    signals_.ask(task_);
  }

  std::shared_ptr<ProcessSnapshot> look_;
  std::shared_ptr<ProcessFamily> family_;
  ProcessSignals& signals_;
  std::shared_ptr<FamilySignals> task_;
  bool stopped_ = false;
  std::optional<Kill> kill_;
};

bool is_within(std::string_view path, std::string_view parent) {
  return path.starts_with(parent) && (path.size() == parent.size() || path[parent.size()] == '/');
}

Result<void> check_path(const std::string& path, const std::string& pool) {
  const bool climbs = (path + '/').find("/../") != std::string::npos ||
                      (path + '/').find("/./") != std::string::npos;
  if (!path.starts_with('/') || path.size() < 2 || path.size() > kPathMax || climbs ||
      path.find('\0') != std::string::npos || path.find("//") != std::string::npos) {
    return fail(
        std::errc::invalid_argument,
        "found the cgroup \"" + path + "\", expected a path from the root of its hierarchy");
  }
  if (!pool.empty() && is_within(path, pool)) {
    return fail(std::errc::permission_denied,
                "the cgroup " + path + " is Plimsoll's own and is measured already");
  }
  return {};
}

Result<void> check_owner(int fd, const Peer& peer, const std::string& what) {
  struct stat about{};
  if (::fstat(fd, &about) != 0) return fail_errno("examine " + what);
  if (peer.where == PeerPlace::remote) {
    return fail(std::errc::permission_denied,
                "a client on another machine cannot name a cgroup or a pid");
  }
  if (peer.uid == 0 || about.st_uid == peer.uid) return {};
  return fail(std::errc::permission_denied,
              what + " belongs to uid " + std::to_string(about.st_uid) +
                  ", not to the client's uid " + std::to_string(peer.uid));
}

}  // namespace

Result<std::unique_ptr<ExternalProcessSet>> open_group(const CgroupPlace& place, const Peer& peer,
                                                       const cgroup::Hierarchies& hierarchies,
                                                       const std::string& pool,
                                                       ProcessSignals& signals) {
  if (auto fits = check_path(place.path, pool); !fits) return pass(std::move(fits));
  std::vector<cgroup::Group::Part> parts;
  for (const cgroup::Hierarchy& hierarchy : hierarchies.all) {
    if (!is_within(place.path, hierarchy.mount_root == "/" ? "" : hierarchy.mount_root)) continue;
    auto directory = cgroup::Directory::open(hierarchy.directory_of(place.path), hierarchy.version);
    if (!directory && directory.error().gone()) continue;
    if (!directory) return pass(std::move(directory));
    if (auto own = check_owner(directory->fd(), peer, "the cgroup " + directory->label()); !own) {
      return pass(std::move(own));
    }
    parts.push_back({.directory = std::move(*directory), .controllers = hierarchy.controllers});
  }
  if (parts.empty()) {
    return fail(std::errc::invalid_argument,
                "found no cgroup " + place.path + " in any hierarchy, expected one that exists");
  }
  return std::make_unique<ExternalCgroup>(cgroup::Group(place.path, std::move(parts)), peer,
                                          signals);
}

Result<std::unique_ptr<ExternalProcessSet>> open_processes(const ProcessPlace& place,
                                                           const Peer& peer,
                                                           std::shared_ptr<ProcessSnapshot> look,
                                                           ProcessSignals& signals) {
  if (place.pid <= 1) {
    return fail(std::errc::invalid_argument, "found the pid " + std::to_string(place.pid) +
                                                 ", expected that of a job's process");
  }
  const std::string name = "/proc/" + std::to_string(place.pid);
  // Opened before it is read and owned: a number that is used again is another directory.
  auto directory = open_at(AT_FDCWD, name, O_RDONLY | O_DIRECTORY);
  if (!directory) return fail(std::errc::invalid_argument, "found no process " + name);
  auto stat = look->proc().read_stat(place.pid);
  if (!stat) return fail(std::errc::invalid_argument, "found no process " + name);
  if (auto own = check_owner(directory->get(), peer, "process " + std::to_string(place.pid));
      !own) {
    return pass(std::move(own));
  }
  auto family = look->follow(*stat);
  if (!family) return pass(std::move(family));
  return std::make_unique<ExternalFamily>(std::move(look), std::move(*family), signals, peer);
}

}  // namespace plimsoll::supervisor
