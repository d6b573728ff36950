#include "kernel/cgroup/limits.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace plimsoll::cgroup {
namespace {

constexpr double kPeriodUs = 100'000;  // the kernel's default period of a CPU quota
constexpr double kQuotaUsMin = 1'000;  // the kernel refuses less
// The kernel refuses more: with the quota above, the smallest share is kCpusMin.
constexpr double kPeriodUsMax = 1'000'000;
static_assert(kQuotaUsMin / kPeriodUsMax == kCpusMin);

constexpr const char* kCpuWeight = "--cpu-weight";
constexpr const char* kIoWeight = "--io-weight";

std::uint64_t nearest_weight(double weight) {
  constexpr double kWeightMin = 1, kWeightMax = 10'000;
  return static_cast<std::uint64_t>(std::llround(std::clamp(weight, kWeightMin, kWeightMax)));
}

// One limit being set: the option that asked for it, and the directory of its controller.
class Setting {
 public:
  Setting(const Group& group, Controller controller, std::string option)
      : directory_(group.of(controller)), controller_(controller), option_(std::move(option)) {}

  [[nodiscard]] bool is_v1() const { return directory_->version() == Version::v1; }
  [[nodiscard]] bool has_file(const std::string& file) const { return directory_->has_file(file); }

  [[nodiscard]] Result<void> check_controller() const {
    if (directory_ != nullptr) return {};
    const std::string name(name_of(controller_, Version::v2));
    return fail(option_ + ": there is no " + name +
                " controller here; `plimsoll doctor` says how to add it");
  }

  [[nodiscard]] Result<void> write(const std::string& file, std::string_view text) const {
    if (!directory_->has_file(file)) {
      return fail(option_ + ": this kernel has no " + file + "; `plimsoll doctor` explains it");
    }
    auto wrote = directory_->write(file, text);
    if (!wrote) return pass(std::move(wrote), option_);
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view reason) const {
    return fail(option_ + ": " + std::string(reason));
  }

 private:
  const Directory* directory_;
  Controller controller_;
  std::string option_;
};

Result<void> set_memory_high(const Group& group, Bytes bytes) {
  const Setting setting(group, Controller::memory, "--memory-high");
  if (auto ok = setting.check_controller(); !ok) return ok;
  if (setting.is_v1()) {
    return setting.refuse(
        "the memory controller is on cgroup v1, which has no such limit; use --memory-max, or boot "
        "with systemd.unified_cgroup_hierarchy=1");
  }
  return setting.write("memory.high", std::to_string(bytes.count));
}

Result<void> set_memory_max(const Group& group, Bytes bytes) {
  const Setting setting(group, Controller::memory, "--memory-max");
  if (auto ok = setting.check_controller(); !ok) return ok;
  if (!setting.is_v1()) return setting.write("memory.max", std::to_string(bytes.count));
  return setting.write("memory.limit_in_bytes", std::to_string(bytes.count));
}

// v1 limits memory and swap together, so a limit of swap alone has no twin.
Result<void> set_swap_max(const Group& group, Bytes bytes, std::optional<Bytes> memory_max) {
  const Setting setting(group, Controller::memory, "--swap-max");
  if (auto ok = setting.check_controller(); !ok) return ok;
  if (!setting.is_v1()) return setting.write("memory.swap.max", std::to_string(bytes.count));
  if (!memory_max) {
    return setting.refuse(
        "on cgroup v1 swap is limited together with memory; give --memory-max as well");
  }
  return setting.write("memory.memsw.limit_in_bytes", std::to_string((*memory_max + bytes).count));
}

Result<void> set_cpuset(const Group& group, const std::string& cpus) {
  const Setting setting(group, Controller::cpuset, "--cpuset");
  if (auto ok = setting.check_controller(); !ok) return ok;
  return setting.write("cpuset.cpus", cpus);
}

Result<std::string> device_number(const std::string& device) {
  std::string_view rest = device;
  if (to_u64(take_until(rest, ':')) && to_u64(rest)) return device;
  struct stat status{};
  if (::stat(device.c_str(), &status) != 0) return fail_errno("--io-max: examine " + device);
  const dev_t number = S_ISBLK(status.st_mode) ? status.st_rdev : status.st_dev;
  return std::to_string(::major(number)) + ":" + std::to_string(::minor(number));
}

Result<void> set_io_max(const Group& group, const DeviceRate& rate) {
  const Setting setting(group, Controller::io, "--io-max");
  if (auto ok = setting.check_controller(); !ok) return ok;
  auto device = device_number(rate.device);
  if (!device) return pass(std::move(device));

  struct Value {
    std::optional<std::uint64_t> number;
    const char* v2_key;
    const char* v1_file;
  };
  const auto count = [](const std::optional<Bytes>& bytes) {
    return bytes ? std::optional(bytes->count) : std::nullopt;
  };
  const std::array values = {
      Value{count(rate.read_per_second), "rbps", "blkio.throttle.read_bps_device"},
      Value{count(rate.write_per_second), "wbps", "blkio.throttle.write_bps_device"},
      Value{rate.read_ops_per_second, "riops", "blkio.throttle.read_iops_device"},
      Value{rate.write_ops_per_second, "wiops", "blkio.throttle.write_iops_device"}};
  std::string v2_text = *device;
  for (const Value& value : values) {
    if (!value.number) continue;
    const std::string number = std::to_string(*value.number);
    v2_text.append(" ").append(value.v2_key).append("=").append(number);
    if (!setting.is_v1()) continue;
    if (auto wrote = setting.write(value.v1_file, *device + " " + number); !wrote) return wrote;
  }
  if (setting.is_v1()) return {};
  return setting.write("io.max", v2_text);
}

Result<void> set_pids_max(const Group& group, std::uint64_t pids) {
  const Setting setting(group, Controller::pids, "--pids-max");
  if (auto ok = setting.check_controller(); !ok) return ok;
  return setting.write("pids.max", std::to_string(pids));
}

Result<void> set_oom_group(const Group& group) {
  const Directory* memory = group.of(Controller::memory);
  if (memory == nullptr || memory->version() == Version::v1) return {};
  return memory->write("memory.oom.group", "1");
}

}  // namespace

CpuQuota cpu_quota_of(double cpus) {
  // Whoever has little of each period gets it in fewer, longer ones.
  const double period = std::clamp(kQuotaUsMin / cpus, kPeriodUs, kPeriodUsMax);
  const auto rounded = [](double us) { return static_cast<std::uint64_t>(std::llround(us)); };
  return {.quota_us = rounded(std::max(cpus * period, kQuotaUsMin)), .period_us = rounded(period)};
}

Result<void> set_cpus(const Group& group, std::optional<double> cpus) {
  const Setting setting(group, Controller::cpu, "--cpus");
  if (auto ok = setting.check_controller(); !ok) return ok;
  // Without a quota the period says nothing, and may stay what it is.
  if (!cpus) {
    return setting.is_v1() ? setting.write("cpu.cfs_quota_us", "-1")
                           : setting.write("cpu.max", "max");
  }
  const CpuQuota share = cpu_quota_of(*cpus);
  const std::string quota = std::to_string(share.quota_us);
  const std::string period = std::to_string(share.period_us);
  if (!setting.is_v1()) return setting.write("cpu.max", quota + " " + period);
  if (auto wrote = setting.write("cpu.cfs_period_us", period); !wrote) return wrote;
  return setting.write("cpu.cfs_quota_us", quota);
}

Result<void> set_cpu_weight(const Group& group, double weight, const std::string& option) {
  const Setting setting(group, Controller::cpu, option);
  if (auto ok = setting.check_controller(); !ok) return ok;
  if (setting.is_v1()) return setting.write("cpu.shares", std::to_string(cpu_shares_of(weight)));
  return setting.write("cpu.weight", std::to_string(nearest_weight(weight)));
}

Result<void> set_io_weight(const Group& group, double weight, const std::string& option) {
  const Setting setting(group, Controller::io, option);
  if (auto ok = setting.check_controller(); !ok) return ok;
  const std::uint64_t whole = nearest_weight(weight);
  if (!setting.is_v1()) {
    return setting.write(setting.has_file("io.weight") ? "io.weight" : "io.bfq.weight",
                         std::to_string(whole));
  }
  // v1's schedulers take 1..1000 where v2 takes 1..10000.
  const std::string v1_text = std::to_string(std::min<std::uint64_t>(whole, 1000));
  for (const char* file : {"blkio.bfq.weight", "blkio.weight"}) {
    if (setting.has_file(file)) return setting.write(file, v1_text);
  }
  return setting.refuse(
      "the kernel has no weight file for blkio, as the bfq scheduler is not in use; use --io-max");
}

// A kernel without weights of I/O (v1 without bfq) refuses nothing.
void weigh(const Group& group, const Limits& limits) {
  if (!limits.cpu_weight) {
    [[maybe_unused]] const auto cpu = set_cpu_weight(group, *limits.weight, kCpuWeight);
  }
  if (!limits.io_weight) {
    [[maybe_unused]] const auto io = set_io_weight(group, *limits.weight, kIoWeight);
  }
}

ControllerSet controllers_for(const Limits& limits) {
  ControllerSet needed;
  if (limits.memory_max || limits.memory_high || limits.swap_max) needed.add(Controller::memory);
  if (limits.cpus || limits.cpu_weight || limits.weight) needed.add(Controller::cpu);
  if (limits.cpuset) needed.add(Controller::cpuset);
  if (limits.io_weight || !limits.io_max.empty()) needed.add(Controller::io);
  if (limits.pids_max) needed.add(Controller::pids);
  return needed;
}

std::uint64_t cpu_shares_of(double weight) {
  constexpr double kSharesMin = 2, kSharesMax = 262'144;
  const double shares = weight * kSharesDefault / kWeightDefault;
  return static_cast<std::uint64_t>(std::llround(std::clamp(shares, kSharesMin, kSharesMax)));
}

Result<void> apply_limits(const Group& group, const Limits& limits) {
  Result<void> done = set_oom_group(group);
  const auto apply = [&done](bool wanted, auto set) {
    if (done && wanted) done = set();
  };
  apply(limits.memory_max.has_value(), [&] { return set_memory_max(group, *limits.memory_max); });
  apply(limits.memory_high.has_value(),
        [&] { return set_memory_high(group, *limits.memory_high); });
  apply(limits.swap_max.has_value(),
        [&] { return set_swap_max(group, *limits.swap_max, limits.memory_max); });
  apply(limits.cpus.has_value(), [&] { return set_cpus(group, *limits.cpus); });
  apply(limits.cpuset.has_value(), [&] { return set_cpuset(group, *limits.cpuset); });
  apply(limits.cpu_weight.has_value(),
        [&] { return set_cpu_weight(group, *limits.cpu_weight, kCpuWeight); });
  apply(limits.io_weight.has_value(),
        [&] { return set_io_weight(group, *limits.io_weight, kIoWeight); });
  if (done && limits.weight) weigh(group, limits);
  for (const DeviceRate& rate : limits.io_max) {
    apply(true, [&] { return set_io_max(group, rate); });
  }
  apply(limits.pids_max.has_value(), [&] { return set_pids_max(group, *limits.pids_max); });
  return done;
}

Result<UniqueFd> open_v1_oom_event(const Directory& memory) {
  auto control = memory.open_file("memory.oom_control", O_RDONLY);
  if (!control) return control;
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return fail_errno("make an eventfd");
  auto registered = memory.write(
      "cgroup.event_control", std::to_string(event.get()) + " " + std::to_string(control->get()));
  if (!registered) return pass(std::move(registered));
  return event;
}

Result<void> reclaim(const Directory& memory, Bytes amount) {
  if (memory.version() == Version::v1) return memory.write("memory.force_empty", "0");
  return memory.write("memory.reclaim", std::to_string(amount.count));
}

}  // namespace plimsoll::cgroup
