#include "daemon/runner/runner_messages.h"

#include <buildbarn/resourceusage/resourceusage.pb.h>

namespace plimsoll::daemon {
namespace {

void fill(google::protobuf::Duration& message, Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  message.set_seconds(seconds.count());
  message.set_nanos(static_cast<std::int32_t>((duration - seconds).count()));
}

void fill(google::protobuf::Duration& message, const timeval& time) {
  fill(message, std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec));
}

std::int64_t number(std::uint64_t count) { return static_cast<std::int64_t>(count); }

buildbarn::resourceusage::POSIXResourceUsage message_of(const PosixUsage& posix) {
  constexpr std::int64_t kKilobyte = 1024;  // the unit of ru_maxrss
  const rusage& usage = posix.usage;
  buildbarn::resourceusage::POSIXResourceUsage message;
  fill(*message.mutable_user_time(), usage.ru_utime);
  fill(*message.mutable_system_time(), usage.ru_stime);
  message.set_maximum_resident_set_size(usage.ru_maxrss * kKilobyte);
  message.set_page_reclaims(usage.ru_minflt);
  message.set_page_faults(usage.ru_majflt);
  message.set_swaps(usage.ru_nswap);
  message.set_block_input_operations(usage.ru_inblock);
  message.set_block_output_operations(usage.ru_oublock);
  message.set_messages_sent(usage.ru_msgsnd);
  message.set_messages_received(usage.ru_msgrcv);
  message.set_signals_received(usage.ru_nsignals);
  message.set_voluntary_context_switches(usage.ru_nvcsw);
  message.set_involuntary_context_switches(usage.ru_nivcsw);
  message.set_termination_signal(posix.termination_signal);
  return message;
}

buildbarn::resourceusage::CgroupResourceUsage message_of(const CgroupUsage& group) {
  buildbarn::resourceusage::CgroupResourceUsage message;
  message.set_memory_events_low(number(group.events.low));
  message.set_memory_events_high(number(group.events.high));
  message.set_memory_events_max(number(group.events.max));
  message.set_memory_events_oom(number(group.events.oom));
  message.set_memory_events_oom_kill(number(group.events.oom_kill));
  message.set_memory_events_oom_group_kill(number(group.events.oom_group_kill));
  message.set_memory_peak(number(group.peak.count));
  fill(*message.mutable_memory_pressure_some_total(), group.memory.some);
  fill(*message.mutable_memory_pressure_full_total(), group.memory.full);
  fill(*message.mutable_cpu_pressure_some_total(), group.cpu.some);
  fill(*message.mutable_cpu_pressure_full_total(), group.cpu.full);
  fill(*message.mutable_io_pressure_some_total(), group.io.some);
  fill(*message.mutable_io_pressure_full_total(), group.io.full);
  return message;
}

}  // namespace

ActionRequest order_of(const buildbarn::runner::RunRequest& request) {
  ActionRequest order;
  WordsBuilder words;
  for (const std::string& word : request.arguments()) words.add(word);
  order.arguments = words.take();
  for (const auto& [name, value] : request.environment_variables()) {
    order.environment.emplace_back(name, value);
  }
  order.working_directory = request.working_directory();
  order.stdout_path = request.stdout_path();
  order.stderr_path = request.stderr_path();
  order.input_root = request.input_root_directory();
  order.temporary_directory = request.temporary_directory();
  order.server_logs = request.server_logs_directory();
  return order;
}

void fill(buildbarn::runner::RunResponse& response, const RunAnswer& answer) {
  response.set_exit_code(answer.exit_code);
  response.add_resource_usage()->PackFrom(message_of(answer.posix));
  if (answer.cgroup) response.add_resource_usage()->PackFrom(message_of(*answer.cgroup));
}

}  // namespace plimsoll::daemon
