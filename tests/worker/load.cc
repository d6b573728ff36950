#include "load.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "client.h"
#include "times.h"

namespace plimsoll::testing {
namespace {

namespace fs = std::filesystem;

// A worker's client tries an action again that failed for the machine's sake.
constexpr int kTriesMax = 50;
constexpr auto kIdlePause = std::chrono::milliseconds(200);

class Load {
 public:
  explicit Load(const LoadConfig& config) : config_(config), stub_(connect(config.address)) {}

  int run_all() {
    const auto begun = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < config_.threads; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    for (const auto& [told, times] : failures_) {
      std::printf("%u times: %s\n", times, told.c_str());
    }
    std::printf("%u of %u actions in %.1f s, %u tried again, %u lost\n", ended_.load(),
                config_.count, took.count(), retried_.load(), lost_.load());
    std::printf("Run %s\n", text_of(times_).c_str());
    return lost_ == 0 && ended_ == config_.count ? 0 : 1;
  }

 private:
  void work() {
    for (unsigned id = next_++; id < config_.count; id = next_++) {
      bool done = false;
      for (int i = 0; !done && i < kTriesMax; ++i) {
        if (i > 0) ++retried_, await_readiness();
        done = act(std::to_string(id));
      }
      ++(done ? ended_ : lost_);
    }
  }

  void await_readiness() {
    for (int i = 0; i < kTriesMax; ++i) {
      if (check(*stub_, "").ok()) return;
      std::this_thread::sleep_for(kIdlePause);
    }
  }

  bool act(const std::string& id) {
    const fs::path home = fs::path(config_.build) / id;
    for (const char* part : {"root", "tmp", "server_logs"}) fs::create_directories(home / part);
    buildbarn::runner::RunRequest request;
    for (const std::string& argument : config_.arguments) request.add_arguments(argument);
    (*request.mutable_environment_variables())["PATH"] = "/usr/bin:/bin";
    request.set_stdout_path(id + "/stdout");
    request.set_stderr_path(id + "/stderr");
    request.set_input_root_directory(id + "/root");
    request.set_temporary_directory(id + "/tmp");
    request.set_server_logs_directory(id + "/server_logs");
    const auto called = std::chrono::steady_clock::now();
    const Outcome outcome = run(*stub_, request, std::nullopt);
    const auto answered = std::chrono::steady_clock::now();
    const bool has_logs = fs::exists(home / "stdout") && fs::exists(home / "stderr") &&
                          fs::exists(home / "server_logs" / "plimsoll.json");
    std::error_code error;
    fs::remove_all(home, error);
    if (outcome.status.ok() && outcome.response.exit_code() == 0 && has_logs && !error) {
      const std::scoped_lock lock(mutex_);
      times_.push_back(answered - called);
      return true;
    }
    note(outcome.status.ok()
             ? "exit code " + std::to_string(outcome.response.exit_code()) +
                   (has_logs ? "" : ", without logs") + (error ? ", the directory was in use" : "")
             : outcome.status.error_message());
    return false;
  }

  void note(const std::string& told) {
    const std::scoped_lock lock(mutex_);
    ++failures_[told];
  }

  const LoadConfig& config_;
  std::unique_ptr<Runner::Stub> stub_;
  std::atomic<unsigned> next_ = 0, ended_ = 0, retried_ = 0, lost_ = 0;
  std::mutex mutex_;
  std::map<std::string, unsigned> failures_;
  Times times_;  // of calls that went well
};

}  // namespace

int load(const LoadConfig& config) { return Load(config).run_all(); }

}  // namespace plimsoll::testing
