// What a runner does beside its actions: readiness checks and cleaning.
#include "base/quantity.h"
#include "daemon/runner/build_directory.h"
#include "daemon/runner/runner.h"
#include "daemon/runner/runner_files.h"
#include "policy/job/attempt.h"
#include "supervisor/environment.h"

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
    case policy::HoldCause::places: return true;
    case policy::HoldCause::cores:
    case policy::HoldCause::disk:
    case policy::HoldCause::pace:
    case policy::HoldCause::calm: return false;
  }
  return false;
}

Status status_of_cleaner(const supervisor::AttemptResult& result) {
  if (policy::succeeded(result.end)) return {};
  std::string why = result.reason.empty() ? policy::describe(result.end) : result.reason;
  if (result.end.outcome == policy::Outcome::exited && result.end.exit_code) {
    why = "exit status " + std::to_string(*result.end.exit_code);
  } else if (result.end.outcome == policy::Outcome::signalled && result.end.signal) {
    why = "signal: " + signal_text(*result.end.signal);
  }
  return {Code::internal, "Failed to run cleaning command: " + why};
}

}  // namespace

std::optional<std::string> Runner::why_full() const {
  const policy::Scheduler& scheduler = deps_.host_scheduler.scheduler();
  if (const auto& holding = scheduler.holding()) {
    if (is_for_long(holding->cause) || has_waited(kFullWait)) return holding->reason;
  }
  const policy::SchedulerStatus status = scheduler.status();
  if (status.frozen > 0) return std::to_string(status.frozen) + " of its jobs are paused";
  if (status.running > 0 && to_double(status.used) > to_double(status.line) * kFullShare) {
    return "its jobs use " + format_bytes(status.used) + " of " + format_bytes(status.line);
  }
  return std::nullopt;
}

// The worker asks for work only after this: to refuse is to hold an action that costs it nothing.
void Runner::check(const std::string& path, std::function<void(Status)> answer) {
  if (draining_) return answer({Code::unavailable, "The runner is going down"});
  if (const auto why = why_full()) {
    return answer({Code::unavailable, "The machine is full: " + *why});
  }
  ++checks_;
  look_for_needed(0, [this, path, answer = std::move(answer)](Status missing) {
    if (!missing.ok()) return end_check(std::move(missing), answer);
    cleaner_.acquire([this, path, answer](Status cleaned) {
      if (!cleaned.ok()) return end_check(std::move(cleaned), answer);
      look_at(path, [this, answer](Status seen) {
        cleaner_.release([this, answer, seen = std::move(seen)](const Status& after) {
          end_check(seen.ok() ? after : seen, answer);
        });
      });
    });
  });
}

// While an action runs, the links are its own.
void Runner::look_at(const std::string& path, FileLanes::Done done) {
  auto look = [this, path, done = std::move(done)](Status linked) {
    if (!linked.ok()) return done(std::move(linked));
    files_.submit(
        join(settings_->build_directory, path),
        [path, settings = settings_](FileTurn&) {
          return BuildDirectory(settings->build_directory).check(path);
        },
        done);
  };
  if (running_ > 0) return look({});
  link(kNowhere, std::move(look));
}

void Runner::link(const std::string& target, FileLanes::Done done) {
  const std::vector<std::string>& links = settings_->symlinked_temporary_directories;
  if (links.empty()) return done({});
  files_.submit(
      links.front(),
      [target, settings = settings_](FileTurn&) {
        return link_temporary_directories(settings->symlinked_temporary_directories, target);
      },
      std::move(done));
}

void Runner::look_for_needed(std::size_t next, FileLanes::Done done) {
  if (next == settings_->readiness_paths.size()) return done({});
  const std::string& path = settings_->readiness_paths[next];
  files_.submit(
      path, [path](FileTurn&) { return check_path_exists(path); },
      [this, next, done = std::move(done)](Status found) {
        if (!found.ok()) return done(std::move(found));
        look_for_needed(next + 1, done);
      });
}

void Runner::end_check(Status status, const std::function<void(Status)>& answer) {
  --checks_;
  answer(std::move(status));
}

// What an action has left is no other's error.
void Runner::clean(IdleCleaner::Done done) {
  clean_directories(0, [this, done = std::move(done)] {
    if (settings_->cleaner_command.empty()) return done({});
    run_cleaner(done);
  });
}

void Runner::clean_directories(std::size_t next, std::function<void()> done) {
  if (next == temporary_.size()) return done();
  const auto directory = temporary_[next];
  files_.submit(
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
    deps_.log(cleaned.text);
  }
}

void Runner::run_cleaner(IdleCleaner::Done done) {
  supervisor::AttemptRequest request;
  request.group = "cleaner-" + std::to_string(++cleanings_);
  request.spawn.argv = settings_->cleaner_command;
  request.spawn.env = supervisor::environment_with({});
  request.spawn.session = guardian::Session::own;
  request.spawn.descriptors = guardian::Descriptors::close;
  request.spawn.signals = guardian::Signals::set_default;
  request.spawn.stdio[0] = null_input_.get();
  cleaning_ = std::make_unique<supervisor::Attempt>(
      deps_.supervisor, std::move(request),
      supervisor::Attempt::Callbacks{
          .over = [](const policy::AttemptEnd&) {},
          .gone =
              [this, done = std::move(done)](const supervisor::AttemptResult& result) {
                // Destroyed when the next is made: this is a callback of its own.
                const Status status = status_of_cleaner(result);
                deps_.supervisor.loop().poster()([done, status] { done(status); });
              },
          .sampled = {},
          .stuck = [](const reap::Stuck&) {}});
  cleaning_->start();
}

}  // namespace plimsoll::daemon
