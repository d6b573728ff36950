#include "daemon/api/job_socket_client.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/cases.h"
#include "base/loop/unix_socket.h"
#include "daemon/api/priority_range.h"
#include "daemon/grpc/call_pace.h"
#include "report/json.h"

namespace plimsoll::daemon {
namespace {

const char* state_name(ApiJobState state) {
  switch (state) {
    case ApiJobState::waiting: return "waiting";
    case ApiJobState::running: return "running";
    case ApiJobState::paused: return "paused";
  }
  return "";
}

supervisor::JobEnded ended_of(const report::JobReport& report,
                              const supervisor::AttemptResult* last) {
  supervisor::JobEnded ended{.outcome = std::string(policy::name_of(report.outcome)),
                             .exit_code = report.exit_code,
                             .signal = report.signal,
                             .reason = report.reason,
                             .report = report::to_json(report, report::JsonForm::line)};
  if (last != nullptr && last->failure && last->failure->step == guardian::SpawnStep::exec) {
    ended.start_error = static_cast<int>(last->failure->code);
  }
  ended.report.pop_back();  // its newline
  return ended;
}

supervisor::ControlAnswer answer_of(const Result<void>& done) {
  return {.error = done ? std::nullopt : std::optional(done.error().what)};
}

}  // namespace

void Untaken::add(std::string_view bytes) {
  tell_news();
  bytes_.append(bytes);
}

void Untaken::add_news(std::string line) {
  news_ = std::move(line);
  if (!is_full()) tell_news();
}

void Untaken::tell_news() {
  bytes_.append(news_);
  news_.clear();
}

Result<void> Untaken::send(int socket) {
  if (!is_full()) tell_news();
  if (size() == 0) return {};
  const ssize_t sent = ::send(socket, bytes_.data() + sent_, size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    if (errno == EAGAIN || errno == EINTR) return {};
    return fail_errno("send to a client");
  }
  sent_ += static_cast<std::size_t>(sent);
  // Who always leaves a little would have us keep all that he ever took.
  if (sent_ < kFull && size() > 0) return {};
  bytes_.erase(0, sent_);
  sent_ = 0;
  return {};
}

// What is told comes from within calls of the job service: it is only kept, and sent in a turn of
// its own. The client stops following before it is gone.
class JobSocket::Client::Follower : public JobWatcher {
 public:
  explicit Follower(Client& client) : client_(client) {}

  void state(const StateTold& told) override {
    client_.out_.add_news(supervisor::to_message(supervisor::JobNews(supervisor::JobStands{
        .state = state_name(told.state), .attempt = told.attempt, .reason = told.reason})));
    client_.rearm();
  }
  void output(OutputStream stream, std::string_view data) override {
    const auto which =
        stream == OutputStream::out ? supervisor::JobOutput::out : supervisor::JobOutput::err;
    client_.send(supervisor::to_message(
        supervisor::JobNews(supervisor::OutputHead{.stream = which, .bytes = data.size()})));
    client_.send(data);
  }
  void ended(const report::JobReport& report, const supervisor::AttemptResult* last) override {
    client_.watcher_.reset();
    client_.is_closing_ = true;
    client_.send(supervisor::to_message(supervisor::JobNews(ended_of(report, last))));
  }
  void lost() override {
    client_.watcher_.reset();
    client_.is_closing_ = true;
  }
  [[nodiscard]] bool is_full() const override { return client_.out_.is_full(); }

 private:
  Client& client_;
};

JobSocket::Client::Client(JobSocketDeps& deps, supervisor::Closer& closer, UniqueFd fd,
                          supervisor::Peer peer)
    : deps_(deps),
      closer_(closer),
      fd_(std::move(fd)),
      peer_(std::move(peer)),
      active_(loop::now()) {}

JobSocket::Client::~Client() {
  if (watcher_) deps_.jobs.unwatch(job_, *watcher_);
  watch_ = {};
  closer_.close(supervisor::tenant_of(peer_), std::move(fd_));
}

void JobSocket::Client::give_up() {
  if (!watcher_) return;
  deps_.jobs.unwatch(job_, *watcher_);
  watcher_.reset();
  deps_.jobs.cancel(job_, "its client disconnected");
}

bool JobSocket::Client::become_ready(std::uint32_t events) {
  watch_.wait_for(0);
  return std::exchange(ready_, ready_ | events) == 0;
}

bool JobSocket::Client::step() {
  const std::uint32_t events = std::exchange(ready_, 0);
  if (!flush()) return false;
  if ((events & EPOLLIN) != 0 && !receive()) return false;
  if (out_.is_empty() && !answer_next()) return false;
  if (is_closing_ && out_.is_empty()) return false;
  rearm();
  return true;
}

bool JobSocket::Client::flush() {
  if (out_.is_empty()) return true;
  const Duration before = loop::cpu_time();
  const auto sent = out_.send(fd_.get());
  if (watcher_) deps_.jobs.spent_on_output(peer_.uid, loop::cpu_time() - before);
  return sent.has_value();
}

bool JobSocket::Client::receive() {
  std::array<char, 65536> buffer;
  auto got = loop::receive(fd_.get(), buffer, MSG_DONTWAIT);
  if (!got) {
    return got.error().code == std::errc::resource_unavailable_try_again ||
           got.error().code == std::errc::interrupted;
  }
  // Nobody has a reason to send these.
  closer_.close(supervisor::tenant_of(peer_), std::move(got->fds));
  in_.append(buffer.data(), got->bytes);
  return got->bytes > 0;
}

// Of what has arrived whole. False: what follows can't be understood any more.
bool JobSocket::Client::answer_next() {
  if (head_) {
    if (in_.size() < head_->bytes) return true;
    const std::size_t bytes = head_->bytes;
    const Duration before = loop::cpu_time();
    auto asked = supervisor::complete(std::move(*head_), std::string_view(in_).substr(0, bytes));
    deps_.gate.spent_beside(supervisor::tenant_of(peer_),
                            CallPace::kReading * (loop::cpu_time() - before));
    head_.reset();
    in_.erase(0, bytes);
    active_ = loop::now();
    asked ? submit(std::move(*asked)) : refuse(asked.error());
    return true;
  }
  const std::size_t end = in_.find('\n');
  if (end == std::string::npos && in_.size() <= supervisor::kRequestBytesMax) return true;
  auto request =
      end > supervisor::kRequestBytesMax
          ? Result<supervisor::JobRequest>(fail(
                "a request has at most " + std::to_string(supervisor::kRequestBytesMax) + " bytes"))
          : supervisor::parse_job_request(std::string_view(in_).substr(0, end));
  if (!request) {
    // Whether bytes follow it can't be known.
    is_closing_ = true;
    in_.clear();
    refuse(request.error());
    return true;
  }
  in_.erase(0, end + 1);
  active_ = loop::now();
  answer(*request);
  return true;
}

void JobSocket::Client::answer(const supervisor::JobRequest& request) {
  std::visit(
      Cases{[this](const supervisor::ControlRequest& asked) {
              send(supervisor::to_line(carry_out(asked)));
            },
            [this](const supervisor::ListJobs&) {
              std::vector<supervisor::ListedJob> listed;
              for (const JobListed& job : deps_.jobs.list(peer_)) {
                listed.push_back({.job = job.job,
                                  .name = job.name,
                                  .command = job.command,
                                  .uid = job.uid,
                                  .state = state_name(job.state),
                                  .reason = job.reason,
                                  .age = loop::now() - job.came});
              }
              send(supervisor::to_message(listed));
            },
            [this](const supervisor::SubmitHead& head) {
              if (arriving_elsewhere_ + head.bytes <= JobSocket::kArrivingMax) {
                head_ = head;
              } else {
                is_closing_ = true;
                refuse(
                    Error{.what = "too many requests of this user are being processed; try again"});
              }
            }},
      request);
}

void JobSocket::Client::submit(supervisor::SubmitJob asked) {
  if (watcher_) {
    return refuse(Error{.what = "a connection can wait for only one job at a time"});
  }
  if (!is_priority(asked.job.priority)) {
    return refuse(Error{.what = "priority: found " + std::to_string(asked.job.priority) +
                                ", expected " + kPriorityRange});
  }
  const bool is_detached = asked.files.has_value();
  auto job = deps_.jobs.submit(peer_, {.spec = std::move(asked.job),
                                       .environment = std::move(asked.environment),
                                       .umask = asked.umask,
                                       .files = std::move(asked.files)});
  if (!job) return refuse(job.error());
  send(supervisor::to_message(supervisor::JobNews(supervisor::JobTaken{*job})));
  if (is_detached) return;
  auto watching = deps_.jobs.watch(peer_, *job, std::make_shared<Follower>(*this));
  if (!watching) return refuse(watching.error());
  job_ = *job;
  watcher_ = *watching;
}

supervisor::ControlAnswer JobSocket::Client::carry_out(const supervisor::ControlRequest& request) {
  const auto refused = [] {
    return supervisor::ControlAnswer{.error =
                                         "only root and the daemon's own user may change that"};
  };
  return std::visit(
      Cases{
          [&](const supervisor::AskStatus&) {
            return supervisor::ControlAnswer{.status = deps_.controls.status(peer_)};
          },
          [&](const supervisor::PauseJob& asked) { return on_job(asked.job, &JobService::pause); },
          [&](const supervisor::ResumeJob& asked) {
            return on_job(asked.job, &JobService::resume);
          },
          [&](const supervisor::KillJob& asked) { return on_job(asked.job, &JobService::kill); },
          [&](const supervisor::SetLine& asked) {
            if (!is_operator()) return refused();
            const auto line = deps_.controls.set_line(asked.size);
            return line ? supervisor::ControlAnswer{.line = *line}
                        : supervisor::ControlAnswer{.error = line.error().what};
          },
          [&](const supervisor::SetJobsMax& asked) {
            return is_operator() ? answer_of(deps_.controls.set_jobs_max(asked.jobs)) : refused();
          }},
      request);
}

supervisor::ControlAnswer JobSocket::Client::on_job(
    const std::string& name, Result<void> (JobService::*act)(const supervisor::Peer&, JobId)) {
  const auto job = deps_.jobs.find_named(peer_, name);
  if (!job) return {.error = job.error().what};
  return answer_of((deps_.jobs.*act)(peer_, *job));
}

bool JobSocket::Client::is_operator() const { return peer_.uid == 0 || peer_.uid == ::geteuid(); }

void JobSocket::Client::refuse(const Error& error) {
  send(supervisor::to_message(supervisor::JobNews(supervisor::JobRefused{error.what})));
}

void JobSocket::Client::send(std::string_view bytes) {
  out_.add(bytes);
  rearm();
}

// Of one whose answer waits nothing is read that would only wait as well. Who waits for its turn is
// looked after in that.
void JobSocket::Client::rearm() {
  if (ready_ != 0) return;
  const std::size_t wanted = head_ ? head_->bytes : supervisor::kRequestBytesMax;
  const bool has_room = in_.size() <= wanted;
  const bool has_request = head_ ? in_.size() >= head_->bytes : in_.find('\n') != std::string::npos;
  const bool has_work = !out_.is_empty() || has_request;
  std::uint32_t events = 0;
  if (has_room) events |= EPOLLIN;
  if (has_work) events |= EPOLLOUT;
  watch_.wait_for(events);
}

}  // namespace plimsoll::daemon
