#include "supervisor/doctor/probes.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>

#include "base/file.h"
#include "base/text.h"
#include "supervisor/capacity.h"

namespace plimsoll::supervisor {
namespace {

using report::Check;
using report::CheckState;

// libc's own header of capabilities may be older than the kernel.
constexpr unsigned kCapBpf = 39;

// Of 100 jobs at once, more than most machines have room for.
constexpr std::uint64_t kDescriptorsEnough = kDescriptorsOfOurs + 100 * kDescriptorsPerJob;
// A parallel build has 10 processes and threads a job, and the user has others.
constexpr std::uint64_t kProcessesEnough = 2000;

bool has(std::uint64_t effective, unsigned capability) {
  return (effective >> capability & 1) != 0;
}

struct Capability {
  const char* id;
  bool there;
  const char* names;
  const char* cost;
};

Check judge_capability(const Capability& capability, Caller caller) {
  if (capability.there) return {.id = capability.id, .value = capability.names};
  return {.id = capability.id,
          .state = CheckState::missing,
          .value = std::string("no ") + capability.names,
          .cost = capability.cost,
          .remedy =
              caller == Caller::root
                  ? "a container or unit in which root keeps it (--cap-add, CapabilityBoundingSet=)"
                  : "root, or setcap on the program, or AmbientCapabilities= of its unit"};
}

Check probe_pidfd() {
  const UniqueFd own(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0U)));
  if (own && ::syscall(SYS_pidfd_send_signal, own.get(), 0, nullptr, 0U) == 0) {
    return {.id = "pidfd", .value = "processes are identified by descriptors"};
  }
  const Error error{.code = static_cast<std::errc>(errno), .what = "signal through a pidfd"};
  return {.id = "pidfd",
          .state = CheckState::missing,
          .value = error.message(),
          .cost = "processes that outlive the main process of a job cannot be signalled one by one",
          .remedy = "Linux 5.3, and a sandbox that allows pidfd_open"};
}

Check probe_limit(LimitKind kind) {
  rlimit limit{};
  ::getrlimit(kind == LimitKind::nofile ? RLIMIT_NOFILE : RLIMIT_NPROC, &limit);
  return judge_limit(kind, limit.rlim_max == RLIM_INFINITY
                               ? std::nullopt
                               : std::optional<std::uint64_t>(limit.rlim_max));
}

// Lowers our own by one and puts it back.
Check probe_oom_score() {
  constexpr const char* kFile = "/proc/self/oom_score_adj";
  constexpr std::int64_t kLowest = -1000;
  Check check{.id = "oom_score_adj"};
  const auto text = read_text_at(AT_FDCWD, kFile);
  const auto own = text ? to_i64(trim(*text)) : std::nullopt;
  if (own) {
    check.value = std::to_string(*own) + ", can be lowered";
    if (*own == kLowest) return check;
    if (write_text_at(AT_FDCWD, kFile, std::to_string(*own - 1))) {
      if (write_text_at(AT_FDCWD, kFile, std::to_string(*own))) return check;
    }
  }
  check.state = CheckState::degraded;
  check.value = own ? std::to_string(*own) + ", cannot be lowered" : "cannot be read";
  check.cost = "when the whole machine runs out of memory, the kernel may choose Plimsoll itself";
  check.remedy = "CAP_SYS_RESOURCE, or OOMScoreAdjust= of its unit";
  return check;
}

Check judge_hidepid(Hiding hiding, bool root) {
  Check check{.id = "hidepid", .value = "/proc shows all processes"};
  if (hiding == Hiding::nobody) return check;
  check.value = hiding == Hiding::processes ? "/proc hides the processes of other users"
                                            : "/proc hides the details of processes of other users";
  if (root) return check;  // sees them all the same
  check.state = CheckState::degraded;
  check.cost = "processes of another user that a job left behind have no name in its report";
  check.remedy = "mount -o remount,hidepid=0 /proc, or the group that its gid= names";
  return check;
}

}  // namespace

std::optional<std::uint64_t> parse_effective_capabilities(std::string_view status) {
  constexpr std::string_view kKey = "CapEff:";
  constexpr int kHexadecimal = 16;
  while (!status.empty()) {
    std::string_view line = take_line(status);
    if (!line.starts_with(kKey)) continue;
    line = trim(line.substr(kKey.size()));
    std::uint64_t bits = 0;
    const auto [end, error] =
        std::from_chars(line.data(), line.data() + line.size(), bits, kHexadecimal);
    if (error == std::errc() && end == line.data() + line.size()) return bits;
  }
  return std::nullopt;
}

std::vector<Check> judge_capabilities(std::uint64_t effective, Caller caller) {
  const bool admin = has(effective, CAP_SYS_ADMIN);
  const Capability capabilities[] = {
      {"capability.sys_resource", has(effective, CAP_SYS_RESOURCE), "CAP_SYS_RESOURCE",
       "pressure triggers are slow, and Plimsoll cannot protect itself from the kernel's OOM "
       "killer"},
      {"capability.bpf", admin || (has(effective, kCapBpf) && has(effective, CAP_NET_ADMIN)),
       admin ? "CAP_SYS_ADMIN" : "CAP_BPF and CAP_NET_ADMIN", "network traffic is not counted"},
      {"capability.kill", has(effective, CAP_KILL), "CAP_KILL",
       "processes of other users cannot be signalled"},
      {"capability.setuid", has(effective, CAP_SETUID) && has(effective, CAP_SETGID),
       "CAP_SETUID and CAP_SETGID", "--uid can't be used"},
  };
  std::vector<Check> checks;
  for (const Capability& capability : capabilities) {
    checks.push_back(judge_capability(capability, caller));
  }
  return checks;
}

Hiding parse_hidepid(std::string_view mountinfo) {
  Hiding hiding = Hiding::nobody;
  while (!mountinfo.empty()) {
    const std::string_view line = take_line(mountinfo);
    const std::size_t dash = line.find(" - proc ");
    if (dash == std::string_view::npos) continue;
    std::string_view head = line.substr(0, dash);
    for (int skipped = 0; skipped < 4; ++skipped) take_until(head, ' ');
    if (take_until(head, ' ') != "/proc") continue;
    std::string_view options = line.substr(line.rfind(' ') + 1);
    hiding = Hiding::nobody;
    while (!options.empty()) {
      std::string_view value = take_until(options, ',');
      if (take_until(value, '=') != "hidepid") continue;
      if (value == "1" || value == "noaccess") hiding = Hiding::contents;
      if (value == "2" || value == "invisible" || value == "4" || value == "ptraceable") {
        hiding = Hiding::processes;
      }
    }
  }
  return hiding;
}

Check judge_limit(LimitKind kind, std::optional<std::uint64_t> hard) {
  const bool files = kind == LimitKind::nofile;
  Check check{.id = files ? "limit.nofile" : "limit.nproc"};
  check.value = hard ? std::to_string(*hard) : "unlimited";
  check.value += files ? " descriptors" : " processes and threads of this user";
  if (!hard || *hard >= (files ? kDescriptorsEnough : kProcessesEnough)) return check;
  check.state = CheckState::degraded;
  if (files) {
    const unsigned jobs = jobs_by_descriptors(*hard);
    check.cost =
        jobs == 1 ? "only one job at a time" : std::to_string(jobs) + " jobs at once, at most";
    check.remedy = "ulimit -n, LimitNOFILE= of a unit, or limits.conf(5)";
  } else {
    check.cost = "forks of jobs fail when many jobs run";
    check.remedy = "ulimit -u, LimitNPROC= of a unit, or limits.conf(5)";
  }
  return check;
}

std::vector<Check> probe_process() {
  const auto status = read_text_at(AT_FDCWD, "/proc/self/status");
  const auto effective = status ? parse_effective_capabilities(*status) : std::nullopt;
  const bool is_root = ::geteuid() == 0;
  std::vector<Check> checks =
      judge_capabilities(effective.value_or(0), is_root ? Caller::root : Caller::user);
  const auto mountinfo = read_text_at(AT_FDCWD, "/proc/self/mountinfo");
  const Hiding hiding = mountinfo ? parse_hidepid(*mountinfo) : Hiding::nobody;
  checks.push_back(probe_pidfd());
  checks.push_back(probe_limit(LimitKind::nofile));
  checks.push_back(probe_limit(LimitKind::nproc));
  checks.push_back(probe_oom_score());
  checks.push_back(judge_hidepid(hiding, is_root));
  return checks;
}

}  // namespace plimsoll::supervisor
