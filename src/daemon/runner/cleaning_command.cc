#include "daemon/runner/cleaning_command.h"

#include <fcntl.h>

#include <utility>

#include "policy/job/attempt.h"
#include "supervisor/environment.h"

namespace plimsoll::daemon {
namespace {

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

CleaningAttempt::CleaningAttempt(supervisor::Supervisor& supervisor)
    : supervisor_(supervisor), null_input_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

void CleaningAttempt::run(const std::vector<std::string>& argv, Lanes::Done done) {
  supervisor::AttemptRequest request;
  request.group = "cleaner-" + std::to_string(++runs_);
  request.spawn.argv = argv;
  request.spawn.env = supervisor::environment_with({});
  request.spawn.session = guardian::Session::own;
  request.spawn.descriptors = guardian::Descriptors::close;
  request.spawn.signals = guardian::Signals::set_default;
  request.spawn.stdio[0] = null_input_.get();
  done_ = std::move(done);
  supervisor::AttemptObserver& observer = *this;
  last_ = std::make_unique<supervisor::Attempt>(supervisor_, std::move(request), observer);
  last_->start();
}

void CleaningAttempt::on_gone(const supervisor::AttemptResult& result) {
  const Status status = status_of_cleaner(result);
  supervisor_.loop().poster()([done = std::exchange(done_, {}), status] { done(status); });
}

}  // namespace plimsoll::daemon
