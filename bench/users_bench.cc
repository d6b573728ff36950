// Two users of one daemon, one of whom may mean no good.
//
//   users_bench SOCKET honest SECONDS AT_ONCE   runs short commands, so many at once, for so long;
//                                               prints "P50_MS P99_MS JOBS_PER_SECOND": from Run to
//                                               the start, and how many have ended
//   users_bench SOCKET WAY                      is in the way of others until it is killed:
//     places   a thousand jobs that take their time
//     cores    fifty jobs that compute without an end
//     hint     jobs of its own that are said to need all of the machine, and take nothing
//     told     the same, which are said to have taken it too
//     streams  a thousand streams of the governor
//     calls    lists its jobs, from 64 threads without a pause
//     output   four jobs that write without an end, which nobody follows
#include <plimsoll/governor.h>
#include <plimsoll/jobs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace plimsoll::client;
using Clock = std::chrono::steady_clock;
using Millis = std::chrono::duration<double, std::milli>;

// Who has not run to his end by then has waited so long.
constexpr auto kGiveUp = std::chrono::seconds(30);

// Some 10 ms of CPU time.
constexpr const char* kShort = "i=0; while [ $i -lt 8000 ]; do i=$((i+1)); done";

Command shell(const std::string& text) {
  Command command;
  command.argv = {"sh", "-c", text};
  command.env = {{"PATH", "/usr/bin:/bin"}};
  command.job_class = "users";
  return command;
}

double at_share(std::vector<double>& sorted, double share) {
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * share)];
}

int be_honest(const std::string& socket, double seconds, int at_once) {
  const auto jobs = Jobs::connect(socket);
  const auto begun = Clock::now();
  const auto end = begun + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(seconds));
  std::mutex mutex;
  std::vector<double> waits;
  std::atomic<int> ended = 0;
  const auto work = [&] {
    while (Clock::now() < end) {
      const auto asked = Clock::now();
      bool has_started = false;
      Listener listener;
      listener.state = [&](const StateChange& change) {
        if (change.state != RunState::running || has_started) return;
        has_started = true;
        const std::lock_guard lock(mutex);
        waits.push_back(Millis(Clock::now() - asked).count());
      };
      const auto answer = jobs->run(shell(kShort), listener, kGiveUp);
      if (answer && answer->exit_code == 0) {
        ++ended;
        continue;
      }
      std::fprintf(stderr, "users_bench: %s\n", answer.failure.message.c_str());
      const std::lock_guard lock(mutex);
      waits.push_back(Millis(kGiveUp).count());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < at_once; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  const double took = std::chrono::duration<double>(Clock::now() - begun).count();
  std::printf("%.1f %.1f %.1f\n", at_share(waits, 0.5), at_share(waits, 0.99), ended / took);
  return 0;
}

void submit(const std::string& socket, int count, const std::string& text) {
  const auto jobs = Jobs::connect(socket);
  for (int i = 0; i < count; ++i) jobs->submit(shell(text));
  ::pause();
}

// `tells`: whether it says that what it was admitted with is in use.
enum class Tells : bool { no, yes };

void want_all(const std::string& socket, Tells tells) {
  constexpr std::uint64_t kAll = std::uint64_t{1} << 50;
  constexpr int kJobs = 20;
  std::mutex mutex;
  std::vector<std::string> admitted;
  Handlers handlers;
  handlers.admit = [&](const std::string& id, unsigned) {
    const std::lock_guard lock(mutex);
    admitted.push_back(id);
  };
  const auto governor = Governor::connect(socket, handlers);
  for (int i = 0; i < kJobs; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.job_class = "greed";
    job.memory_bytes = kAll;
    job.cores = 1000;
    governor->enter(job);
  }
  while (true) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::lock_guard lock(mutex);
    if (tells == Tells::no) continue;
    Sample sample;
    sample.used_bytes = kAll;
    for (const std::string& id : admitted) governor->observe(id, sample);
  }
}

void open_streams(const std::string& socket) {
  constexpr int kStreams = 1000;
  std::vector<std::unique_ptr<Governor>> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(Governor::connect(socket, {}));
  ::pause();
}

void call_and_call(const std::string& socket) {
  constexpr int kThreads = 64;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto jobs = Jobs::connect(socket);
      while (true) jobs->list();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return 2;
  const std::string& socket = words[0];
  if (words[1] == "honest" && words.size() == 4) {
    return be_honest(socket, std::stod(words[2]), std::stoi(words[3]));
  }
  const std::map<std::string, std::function<void()>> ways = {
      {"places", [&] { submit(socket, 1000, "exec sleep 600"); }},
      {"cores", [&] { submit(socket, 50, "while :; do :; done"); }},
      {"output", [&] { submit(socket, 4, "exec yes"); }},
      {"hint", [&] { want_all(socket, Tells::no); }},
      {"told", [&] { want_all(socket, Tells::yes); }},
      {"streams", [&] { open_streams(socket); }},
      {"calls", [&] { call_and_call(socket); }}};
  const auto way = ways.find(words[1]);
  if (way == ways.end()) return 2;
  way->second();
  return 0;
}
