#include "base/loop/scope.h"

#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>

#include "base/may_wait.h"

namespace plimsoll::loop {
namespace {

// A busy systemd answers in milliseconds; a bus that does not answer must not hold up a command.
constexpr auto kScopePatience = std::chrono::seconds(10);

constexpr const char* kDestination = "org.freedesktop.systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";

struct Unref {
  void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
  void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};
using Bus = std::unique_ptr<sd_bus, Unref>;
using Message = std::unique_ptr<sd_bus_message, Unref>;
using Slot = std::unique_ptr<sd_bus_slot, Unref>;

tl::unexpected<Error> fail_bus(int code, std::string what) {
  return fail(static_cast<std::errc>(-code), std::move(what));
}

// What JobRemoved has told of the job that starts the scope.
struct Progress {
  std::string job;  // object path; empty until the answer to the call
  std::vector<std::pair<std::string, std::string>> removed;  // object path, result
};

int on_job_removed(sd_bus_message* message, void* data, sd_bus_error*) {
  const char *path = nullptr, *result = nullptr;
  if (sd_bus_message_read(message, "uoss", nullptr, &path, nullptr, &result) >= 0) {
    static_cast<Progress*>(data)->removed.emplace_back(path, result);
  }
  return 0;
}

Result<Bus> connect() {
  sd_bus* bus = nullptr;
  const int code = ::geteuid() == 0 ? sd_bus_open_system(&bus) : sd_bus_open_user(&bus);
  if (code < 0) return fail_bus(code, "connect to systemd's bus");
  return Bus(bus);
}

int append_weight(sd_bus_message* call, const char* property, double weight) {
  constexpr double kDefault = 100, kMin = 1, kMax = 10'000;
  if (weight == kDefault) return 0;  // said, it would have systemd enable the controller for it
  const long long whole = std::llround(std::clamp(weight, kMin, kMax));
  return sd_bus_message_append(call, "(sv)", property, "t", static_cast<std::uint64_t>(whole));
}

int append_properties(sd_bus_message* call, const std::vector<int>& pids,
                      const ScopeWeights& weights) {
  int code = sd_bus_message_open_container(call, 'a', "(sv)");
  if (code >= 0) code = sd_bus_message_append(call, "(sv)", "Description", "s", "Plimsoll run");
  if (code >= 0) code = sd_bus_message_append(call, "(sv)", "Delegate", "b", 1);
  if (code >= 0)
    code = sd_bus_message_append(call, "(sv)", "CollectMode", "s", "inactive-or-failed");
  if (code >= 0) code = append_weight(call, "CPUWeight", weights.cpu);
  if (code >= 0) code = append_weight(call, "IOWeight", weights.io);
  if (code >= 0) code = sd_bus_message_open_container(call, 'r', "sv");
  if (code >= 0) code = sd_bus_message_append(call, "s", "PIDs");
  if (code >= 0) code = sd_bus_message_open_container(call, 'v', "au");
  if (code >= 0) code = sd_bus_message_open_container(call, 'a', "u");
  for (const int pid : pids) {
    if (code >= 0) code = sd_bus_message_append(call, "u", static_cast<std::uint32_t>(pid));
  }
  for (int container = 0; container < 4; ++container) {
    if (code >= 0) code = sd_bus_message_close_container(call);
  }
  return code;
}

Result<std::string> call_start(sd_bus* bus, const std::string& name, const std::vector<int>& pids,
                               const ScopeWeights& weights) {
  sd_bus_message* made = nullptr;
  int code = sd_bus_message_new_method_call(bus, &made, kDestination, "/org/freedesktop/systemd1",
                                            kManager, "StartTransientUnit");
  const Message call(made);
  if (code >= 0) code = sd_bus_message_append(made, "ss", name.c_str(), "fail");
  if (code >= 0) code = append_properties(made, pids, weights);
  if (code >= 0) code = sd_bus_message_append(made, "a(sa(sv))", 0);
  sd_bus_message* answered = nullptr;
  constexpr auto kPatienceUs =
      std::chrono::duration_cast<std::chrono::microseconds>(kScopePatience).count();
  if (code >= 0) code = sd_bus_call(bus, made, kPatienceUs, nullptr, &answered);
  const Message answer(answered);
  const char* job = nullptr;
  if (code >= 0) code = sd_bus_message_read(answered, "o", &job);
  if (code < 0) return fail_bus(code, "ask systemd for the scope " + name);
  return std::string(job);
}

// The scope's processes are in it once its start job has ended.
Result<void> wait_for_job(sd_bus* bus, const Progress& progress) {
  const auto deadline = std::chrono::steady_clock::now() + kScopePatience;
  for (;;) {
    for (const auto& [job, result] : progress.removed) {
      if (job != progress.job) continue;
      if (result == "done") return {};
      return fail("systemd did not start the scope: " + result);
    }
    const int processed = sd_bus_process(bus, nullptr);
    if (processed < 0) return fail_bus(processed, "wait for systemd");
    if (processed > 0) continue;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(std::errc::timed_out, "wait for systemd to start the scope");
    if (const int waited = sd_bus_wait(bus, static_cast<std::uint64_t>(left.count())); waited < 0) {
      return fail_bus(waited, "wait for systemd");
    }
  }
}

}  // namespace

bool systemd_runs() { return sd_booted() > 0; }

Result<void> reach_systemd() {
  auto bus = connect();
  if (!bus) return pass(std::move(bus));
  sd_bus_message* answered = nullptr;
  const int code = sd_bus_get_property(bus->get(), kDestination, "/org/freedesktop/systemd1",
                                       kManager, "Version", nullptr, &answered, "s");
  const Message answer(answered);
  if (code < 0) return fail_bus(code, "ask systemd for its version");
  return {};
}

Result<void> start_scope(const std::string& name, const std::vector<int>& pids,
                         const ScopeWeights& weights) {
  may_wait("start_scope");
  auto bus = connect();
  if (!bus) return pass(std::move(bus));
  Progress progress;
  sd_bus_slot* matched = nullptr;
  const int code = sd_bus_match_signal(bus->get(), &matched, kDestination, nullptr, kManager,
                                       "JobRemoved", &on_job_removed, &progress);
  const Slot slot(matched);
  if (code < 0) return fail_bus(code, "listen to systemd");
  // Without a subscription the manager of a user sends no signals to us.
  sd_bus_error ignored{};
  sd_bus_call_method(bus->get(), kDestination, "/org/freedesktop/systemd1", kManager, "Subscribe",
                     &ignored, nullptr, nullptr);
  sd_bus_error_free(&ignored);
  auto job = call_start(bus->get(), name, pids, weights);
  if (!job) return pass(std::move(job));
  progress.job = std::move(*job);
  return wait_for_job(bus->get(), progress);
}

}  // namespace plimsoll::loop
