#include <utility>

#include "base/quantity.h"
#include "daemon/runner/build_directory.h"
#include "daemon/runner/runner.h"

// What a runner does beside its actions: readiness checks and cleaning.
namespace plimsoll::daemon {
namespace {

// Where the links to temporary directories lead while nothing runs.
constexpr const char* kNowhere = "/nonexistent";

// What is over in a moment keeps no worker away.
bool is_for_long(policy::HoldCause cause) {
  switch (cause) {
    case policy::HoldCause::memory:
    case policy::HoldCause::alone:
    case policy::HoldCause::share:
    case policy::HoldCause::places:
    case policy::HoldCause::cap:
    case policy::HoldCause::space: return true;
    case policy::HoldCause::cores:
    case policy::HoldCause::disk:
    case policy::HoldCause::pace:
    case policy::HoldCause::calm: return false;
  }
  return false;
}

}  // namespace

std::optional<std::string> Runner::why_full() const {
  if (const auto& holding = deps_.jobs.holding()) {
    if (is_for_long(holding->cause) || has_waited(kFullWait)) return holding->reason;
  }
  const policy::SchedulerStatus status = deps_.jobs.status();
  if (status.frozen > 0) return std::to_string(status.frozen) + " of its jobs are paused";
  if (status.running > 0 && to_double(status.used) > to_double(status.line) * kFullShare) {
    return "its jobs use " + format_bytes(status.used) + " of " + format_bytes(status.line);
  }
  return std::nullopt;
}

// The worker asks for work only after this: to refuse is to hold an action that costs it nothing.
void Runner::check(const std::string& path, WorkerCall& call) {
  if (draining_) return call.checked({Code::unavailable, "The runner is shutting down"});
  if (const auto why = why_full()) {
    return call.checked({Code::unavailable, "The machine is full: " + *why});
  }
  ++checks_;
  look_for_needed(0, [this, path, &call](const Status& missing) {
    if (!missing.ok()) return end_check(missing, call);
    cleaner_.acquire([this, path, &call](const Status& cleaned) {
      if (!cleaned.ok()) return end_check(cleaned, call);
      look_at(path, [this, &call](const Status& seen) {
        cleaner_.release([this, &call, seen](const Status& after) {
          end_check(seen.ok() ? after : seen, call);
        });
      });
    });
  });
}

// While an action runs, the links are its own.
void Runner::look_at(const std::string& path, Lanes::Done done) {
  auto look = [this, path, done = std::move(done)](Status linked) {
    if (!linked.ok()) return done(std::move(linked));
    deps_.files.submit(
        join(settings_->build_directory, path),
        [path, settings = settings_](FileTurn&) {
          return BuildDirectory(settings->build_directory).check(path);
        },
        done);
  };
  if (running_ > 0) return look({});
  link(kNowhere, std::move(look));
}

void Runner::link(const std::string& target, Lanes::Done done) {
  const std::vector<std::string>& links = settings_->symlinked_temporary_directories;
  if (links.empty()) return done({});
  deps_.files.submit(
      links.front(),
      [target, settings = settings_](FileTurn&) {
        return link_temporary_directories(settings->symlinked_temporary_directories, target);
      },
      std::move(done));
}

void Runner::look_for_needed(std::size_t next, Lanes::Done done) {
  if (next == settings_->readiness_paths.size()) return done({});
  const std::string& path = settings_->readiness_paths[next];
  deps_.files.submit(
      path, [path](FileTurn&) { return check_path_exists(path); },
      [this, next, done = std::move(done)](Status found) {
        if (!found.ok()) return done(std::move(found));
        look_for_needed(next + 1, done);
      });
}

void Runner::end_check(const Status& status, WorkerCall& call) {
  --checks_;
  call.checked(status);
}

// What an action has left is no other's error.
void Runner::clean(IdleCleaner::Done done) { clean_directories(0, std::move(done)); }

void Runner::clean_directories(std::size_t next, IdleCleaner::Done done) {
  if (next == temporary_.size()) {
    if (settings_->cleaner_command.empty()) return done({});
    return deps_.cleaning_command.run(settings_->cleaner_command, std::move(done));
  }
  const auto directory = temporary_[next];
  deps_.files.submit(
      directory->path(), [directory](FileTurn& turn) { return directory->clean(turn); },
      [this, next, path = directory->path(), done = std::move(done)](const Status& cleaned) {
        tell_unclean(path, cleaned);
        clean_directories(next + 1, done);
      });
}

void Runner::tell_unclean(const std::string& path, const Status& cleaned) {
  if (cleaned.ok()) {
    unclean_.erase(path);
  } else if (std::exchange(unclean_[path], cleaned.text) != cleaned.text) {
    deps_.reporter.notice(cleaned.text);
  }
}

}  // namespace plimsoll::daemon
