#include "cancel.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "times.h"

namespace plimsoll::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(30);
constexpr auto kLookGap = std::chrono::microseconds(200);

bool becomes_true(const std::function<bool()>& is_true) {
  const auto deadline = Clock::now() + kPatience;
  while (!is_true()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(kLookGap);
  }
  return true;
}

// A directory of the process's own group, in the hierarchy that has Plimsoll's pool.
fs::path group_of(const std::string& pid) {
  std::ifstream memberships("/proc/" + pid + "/cgroup");
  for (std::string line; std::getline(memberships, line);) {
    const std::string path = line.substr(line.rfind(':') + 1);
    if (path.find("/pool/") == std::string::npos) continue;
    for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      if (fs::exists(root + path)) return root + path;
    }
  }
  return {};
}

struct Waits {
  Times dead, removed;
};

bool give_up(Runner::Stub& stub, const fs::path& home, const std::string& id, Waits& waits) {
  for (const char* part : {"root", "tmp", "server_logs"}) fs::create_directories(home / part);
  buildbarn::runner::RunRequest request;
  for (const char* word : {"/bin/sh", "-c", "echo $$; exec /bin/sleep 1000"}) {
    request.add_arguments(word);
  }
  request.set_stdout_path(id + "/stdout");
  request.set_stderr_path(id + "/stderr");
  request.set_input_root_directory(id + "/root");
  request.set_temporary_directory(id + "/tmp");
  request.set_server_logs_directory(id + "/server_logs");
  grpc::ClientContext context;
  std::thread call([&] {
    buildbarn::runner::RunResponse response;
    stub.Run(&context, request, &response);
  });
  std::string pid;
  const bool runs =
      becomes_true([&] { return !!std::getline(std::ifstream(home / "stdout"), pid); });
  const fs::path group = runs ? group_of(pid) : fs::path();
  const auto begun = Clock::now();
  context.TryCancel();
  bool gone = runs && becomes_true([&] { return !fs::exists("/proc/" + pid); });
  waits.dead.push_back(Clock::now() - begun);
  gone = gone && becomes_true([&] { return group.empty() || !fs::exists(group); });
  waits.removed.push_back(Clock::now() - begun);
  call.join();
  fs::remove_all(home);
  return gone && !group.empty();
}

}  // namespace

int cancel(Runner::Stub& stub, const std::string& build, unsigned count) {
  Waits waits;
  unsigned gone = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::string id = "cancel-" + std::to_string(i);
    if (give_up(stub, fs::path(build) / id, id, waits)) ++gone;
  }
  std::printf("%u of %u given up: dead %s; group removed %s\n", gone, count,
              text_of(waits.dead).c_str(), text_of(waits.removed).c_str());
  return gone == count ? 0 : 1;
}

}  // namespace plimsoll::testing
