#include "daemon/api/governor_session.h"

#include <utility>

#include "base/text.h"
#include "daemon/api/favour.h"
#include "daemon/api/governor_messages.h"

namespace plimsoll::daemon {
namespace {

using supervisor::Again;

constexpr std::size_t kIdShownMax = 256;  // of an id that is refused for its length

}  // namespace

GovernorSession::GovernorSession(supervisor::ExternalJobs& external_jobs,
                                 const supervisor::Peer& peer, StreamClient& stream)
    : external_jobs_(external_jobs),
      peer_(peer),
      stream_(stream),
      client_(external_jobs_.open(peer, *this)) {}

GovernorSession::~GovernorSession() { external_jobs_.close(client_); }

void GovernorSession::on_admit(const std::string& name, unsigned attempt,
                               const std::string& reason) {
  v1::GovernResponse response;
  v1::Admit& admit = *response.mutable_admit();
  admit.set_id(name);
  admit.set_attempt(attempt);
  admit.set_reason(reason);
  stream_.send(response);
}

void GovernorSession::on_hold(const std::string& name, policy::HoldCause cause,
                              const std::string& reason) {
  v1::GovernResponse response;
  v1::Hold& hold = *response.mutable_hold();
  hold.set_id(name);
  hold.set_cause(std::string(policy::name_of(cause)));
  hold.set_reason(reason);
  stream_.send(response);
}

void GovernorSession::on_pause(const std::string& name, const std::string& reason) {
  v1::GovernResponse response;
  response.mutable_pause()->set_id(name);
  response.mutable_pause()->set_reason(reason);
  stream_.send(response);
}

void GovernorSession::on_resume(const std::string& name, const std::string& reason) {
  v1::GovernResponse response;
  response.mutable_resume()->set_id(name);
  response.mutable_resume()->set_reason(reason);
  stream_.send(response);
}

void GovernorSession::on_cancel(const std::string& name, policy::Outcome cause,
                                const std::string& reason, Again again) {
  v1::GovernResponse response;
  v1::Cancel& cancel = *response.mutable_cancel();
  cancel.set_id(name);
  cancel.set_cause(cause_of(cause));
  cancel.set_reason(reason);
  cancel.set_comes_again(again == Again::later);
  stream_.send(response);
}

void GovernorSession::on_left(const std::string& name, Again again, const std::string& reason) {
  v1::GovernResponse response;
  v1::Left& left = *response.mutable_left();
  left.set_id(name);
  left.set_comes_again(again == Again::later);
  left.set_reason(reason);
  stream_.send(response);
}

void GovernorSession::refuse(const std::string& id, const Error& error) {
  v1::GovernResponse response;
  v1::Refused& refused = *response.mutable_refused();
  refused.set_id(std::string(cut_utf8(id, kIdShownMax)));
  refused.set_code(code_of(error));
  refused.set_message(error.what);
  stream_.send(response);
}

Result<void> GovernorSession::enter(const supervisor::ExternalSpec& spec) {
  auto may = check_favour(peer_, {.priority = spec.priority, .weight = spec.weight});
  return may ? external_jobs_.enter(client_, spec) : may;
}

void GovernorSession::receive(const v1::GovernRequest& request) {
  // Follows a message that was understood, or says why one was not.
  const auto follow = [this](const std::string& id, auto value, auto act) {
    Result<void> done = value ? act(*value) : Result<void>(pass(std::move(value)));
    if (!done) refuse(id, done.error());
  };
  switch (request.message_case()) {
    case v1::GovernRequest::kEnter:
      return follow(request.enter().id(), spec_of(request.enter()),
                    [&](const auto& spec) { return enter(spec); });
    case v1::GovernRequest::kObserve:
      return follow(request.observe().id(), sample_of(request.observe()), [&](const auto& sample) {
        return external_jobs_.observe(client_, request.observe().id(), sample);
      });
    case v1::GovernRequest::kWatch:
      return follow(request.watch().id(), place_of(request.watch().place()),
                    [&](const auto& place) {
                      return external_jobs_.watch(client_, request.watch().id(), place);
                    });
    case v1::GovernRequest::kLeave:
      return follow(request.leave().id(), end_of(request.leave()), [&](const auto& end) {
        return external_jobs_.leave(client_, request.leave().id(), end);
      });
    case v1::GovernRequest::MESSAGE_NOT_SET: break;
  }
  refuse("", {.code = std::errc::invalid_argument,
              .what = "found an unknown message, expected enter, observe, watch or leave"});
}

}  // namespace plimsoll::daemon
