#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "daemon/api/job_service_job.h"

// What the jobs of clients write: read from pipes as it comes, at the pace of those who follow it.
namespace plimsoll::daemon {
namespace {

// In one turn of the loop, and in one message.
constexpr std::size_t kChunkBytes = 64 << 10;
// Twice of what a pipe holds at most (1 MiB, pipe-max-size).
constexpr int kRestReadsMax = 32;

}  // namespace

// The end that the job writes to.
Result<UniqueFd> JobService::open_output(Job& job, OutputStream stream) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("make a pipe");
  Job::Pipe& pipe = job.pipe(stream);
  pipe = {};
  pipe.fd = UniqueFd(ends[0]);
  UniqueFd write_end(ends[1]);
  // So that the job can open /dev/stdout and /dev/stderr; in vain where we are not root, and it is
  // our own user then.
  if (job.identity) {
    [[maybe_unused]] const int given = ::fchown(ends[1], job.identity->uid, job.identity->gid);
  }
  ::fcntl(pipe.fd.get(), F_SETFL, O_NONBLOCK);
  const JobId id = job.order.spec.id;
  pipe.full = deps_.loop.timer([this, id, stream] {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    // What can't be waited for is read when the job is gone.
    [[maybe_unused]] const auto watched = watch_output(*found->second, stream);
  });
  if (auto watched = watch_output(job, stream); !watched) return pass(std::move(watched));
  return write_end;
}

Result<void> JobService::watch_output(Job& job, OutputStream stream) {
  Job::Pipe& pipe = job.pipe(stream);
  auto watch = deps_.loop.watch(
      pipe.fd.get(), EPOLLIN,
      [this, id = job.order.spec.id, stream](std::uint32_t) { read_output(id, stream); });
  if (!watch) return pass(std::move(watch));
  pipe.watch = std::move(*watch);
  return {};
}

void JobService::read_output(JobId id, OutputStream stream) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  Job& job = *found->second;
  Job::Pipe& pipe = job.pipe(stream);
  const Duration before = loop::cpu_time();
  const bool is_full = std::any_of(job.watchers.begin(), job.watchers.end(),
                                   [](const auto& watcher) { return watcher.second->is_full(); });
  if (is_full) {
    const Instant now = loop::now();
    return pause_output(job, stream,
                        std::max(now + kFullGap, pace_.spent(job.uid, OutputPace::kTurn, now)));
  }
  std::array<char, kChunkBytes> buffer;
  const ssize_t got = ::read(pipe.fd.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    pipe.watch = {};
    return;
  }
  const std::string_view data(buffer.data(), static_cast<std::size_t>(got));
  for (const auto& [number, watcher] : job.watchers) watcher->output(stream, data);
  pace_output(job, stream, loop::cpu_time() - before + OutputPace::kTurn);
}

// It has cost so much to read once.
void JobService::pace_output(Job& job, OutputStream stream, Duration cost) {
  const bool is_heard = !job.watchers.empty();
  const Instant now = loop::now();
  const Instant next = pace_.spent(job.uid, is_heard ? cost : std::max(cost, kUnheardCost), now);
  const Instant earliest = is_heard ? now : now + kUnheardGap;
  if (std::max(next, earliest) > now) pause_output(job, stream, std::max(next, earliest));
}

void JobService::spent_on_output(std::uint32_t uid, Duration cost) {
  pace_.spent(uid, cost, loop::now());
}

void JobService::pause_output(Job& job, OutputStream stream, Instant until) {
  Job::Pipe& pipe = job.pipe(stream);
  pipe.watch = {};  // a closed pipe would wake us whatever we wait for
  pipe.full.set(until);
}

// Nobody of the job lives: what is in its pipes is all that is its. Somebody else may have been
// handed an end and write on.
void JobService::drain_output(Job& job) {
  for (const OutputStream stream : {OutputStream::out, OutputStream::err}) {
    Job::Pipe& pipe = job.pipe(stream);
    std::array<char, kChunkBytes> buffer;
    for (int i = 0; pipe.fd && i < kRestReadsMax; ++i) {
      const ssize_t got = ::read(pipe.fd.get(), buffer.data(), buffer.size());
      if (got <= 0) break;
      const std::string_view data(buffer.data(), static_cast<std::size_t>(got));
      for (const auto& [number, watcher] : job.watchers) watcher->output(stream, data);
    }
    pipe = {};
  }
}

}  // namespace plimsoll::daemon
