// Two users of one daemon, one of whom may mean no good.
//
//   users_bench SOCKET honest SECONDS AT_ONCE [PACE]
//                                               runs short commands, so many at once, for so long;
//                                               prints "P50_MS P99_MS JOBS_PER_SECOND": from Run to
//                                               the start, and how many have ended. With PACE, of
//                                               each that runs at once so many begin in a second at
//                                               most: starts wait for the user's own jobs, too, and
//                                               compare only where he has as many
//   users_bench SOCKET WAY [PORT]               is in the way of others until it is killed; metrics
//                                               are at this port:
//     places       a thousand jobs that take their time
//     cores        fifty jobs that compute without an end
//     hint         jobs of its own that are said to need all of the machine, and take nothing
//     told         the same, which are said to have taken it too
//     streams      a thousand streams of the governor
//     calls        lists its jobs, from 64 threads without a pause
//     output       four jobs that write without an end, which nobody follows
//     followed     the same, followed by those that read as fast as they can
//     deaf         the same, followed by a hundred that read nothing
//     large        commands of as many words as may be, from 8 threads without a pause
//     pids         a thousand jobs at places that are processes with two hundred children
//     identities   a stream that stays: one of many processes with other groups
//     connections  as many connections as it gets: to gRPC, the jobs' socket, the metrics
//     scrapes      asks for metrics, from 64 threads without a pause, and reads nothing
//     ledger       a lease of all of the machine, and thousands of names beside it
#include <arpa/inet.h>
#include <fcntl.h>
#include <plimsoll/governor.h>
#include <plimsoll/jobs.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
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

// `gap`: from one beginning to the next.
int be_honest(const std::string& socket, double seconds, int at_once, Millis gap) {
  const auto jobs = Jobs::connect(socket);
  const auto begun = Clock::now();
  const auto end =
      begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::mutex mutex;
  std::vector<double> waits;
  std::atomic<int> ended = 0;
  // Each of those at once has beats of its own, evenly between those of the others: begun together,
  // they would wait for each other.
  const auto next = [gap](Clock::time_point last) {
    const auto step = std::chrono::duration_cast<Clock::duration>(gap);
    const auto late = Clock::now() - last;
    return step == step.zero() ? Clock::now() : last + step * std::max<long>(1, late / step + 1);
  };
  const auto work = [&](int which) {
    const auto first = begun + std::chrono::duration_cast<Clock::duration>(gap * which / at_once);
    for (auto due = first; due < end; due = next(due)) {
      std::this_thread::sleep_until(due);
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
  for (int i = 0; i < at_once; ++i) threads.emplace_back(work, i);
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

// Jobs that write, and who follows each: so many, by what they do with it.
void follow(const std::string& socket, int followers, const std::function<void()>& read) {
  constexpr int kWriters = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    const auto job = Jobs::connect(socket)->submit(shell("exec yes"));
    if (!job) continue;
    for (int k = 0; k < followers; ++k) {
      threads.emplace_back([&, number = *job] {
        Listener listener;
        listener.out = [&](std::string_view) { read(); };
        Jobs::connect(socket)->watch(number, listener);
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

void say_much(const std::string& socket) {
  constexpr int kThreads = 8, kWords = 249'000;
  Command command = shell("exit 0");
  command.argv.resize(kWords, "w");
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto jobs = Jobs::connect(socket);
      while (true) jobs->submit(command);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void crowd_places(const std::string& socket) {
  constexpr int kChildren = 200, kJobs = 1000;
  for (int i = 0; i < kChildren; ++i) {
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::pause();
      ::_exit(0);
    }
  }
  const auto governor = Governor::connect(socket, {});
  for (int i = 0; i < kJobs; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.job_class = "crowd";
    job.place = Place{.cgroup = {}, .pid = ::getpid()};
    governor->enter(job);
  }
  ::pause();
}

int connect_to(const sockaddr* address, socklen_t size, int family) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, address, size) == 0) return fd;
  ::close(fd);
  return -1;
}

int connect_to_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return connect_to(reinterpret_cast<const sockaddr*>(&address), sizeof address, AF_UNIX);
}

int connect_to_port(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect_to(reinterpret_cast<const sockaddr*>(&address), sizeof address, AF_INET);
}

// Whatever it is given it keeps, and asks for more; what was closed is of no use to anybody.
void hold_connections(const std::string& socket, int port) {
  constexpr std::size_t kHeldMax = 2000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, kHeldMax + 100);
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::vector<int> held;
  for (std::size_t next = 0;; ++next) {
    for (const int fd :
         {connect_to_path(socket), connect_to_path(socket + ".jobs"), connect_to_port(port)}) {
      if (fd >= 0) held.push_back(fd);
    }
    for (; held.size() > kHeldMax; held.erase(held.begin())) ::close(held.front());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void scrape(int port) {
  constexpr int kThreads = 64;
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (true) {
        const int fd = connect_to_port(port);
        if (fd < 0) continue;
        ::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ::close(fd);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void lie_in_ledger(const std::string& directory) {
  constexpr int kNames = 5000, kFiles = 500;
  constexpr std::size_t kLine = 256;  // of a lease, with its newline
  const std::string lie = "1099511627776 1099511627776 1 1 0 0 0 0 0";
  for (int i = 0; i < kFiles; ++i) {
    const std::string path = directory + "/lie-" + std::to_string(i);
    const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (fd < 0 || ::flock(fd, LOCK_EX | LOCK_NB) != 0) continue;
    std::string line = lie;
    line.resize(kLine - 1, ' ');
    [[maybe_unused]] const auto wrote = ::pwrite(fd, (line + "\n").data(), line.size() + 1, 0);
  }
  while (true) {
    for (int i = 0; i < kNames; ++i) {
      [[maybe_unused]] const int made =
          ::symlink("nowhere", (directory + "/name-" + std::to_string(i)).c_str());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

void stay(const std::string& socket) {
  const auto stream = Governor::connect(socket, {});
  ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return 2;
  const std::string& socket = words[0];
  if (words[1] == "honest" && words.size() >= 4) {
    const double pace = words.size() > 4 ? std::stod(words[4]) : 0;
    const Millis gap(pace > 0 ? 1000 / pace : 0);
    return be_honest(socket, std::stod(words[2]), std::stoi(words[3]), gap);
  }
  const int port = words.size() > 2 ? std::stoi(words[2]) : 0;
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::hours(1)); };
  const std::map<std::string, std::function<void()>> ways = {
      {"places", [&] { submit(socket, 1000, "exec sleep 600"); }},
      {"cores", [&] { submit(socket, 50, "while :; do :; done"); }},
      {"output", [&] { submit(socket, 4, "exec yes"); }},
      {"followed", [&] { follow(socket, 1, [] {}); }},
      {"deaf", [&] { follow(socket, 25, sleep); }},
      {"hint", [&] { want_all(socket, Tells::no); }},
      {"told", [&] { want_all(socket, Tells::yes); }},
      {"streams", [&] { open_streams(socket); }},
      {"calls", [&] { call_and_call(socket); }},
      {"large", [&] { say_much(socket); }},
      {"pids", [&] { crowd_places(socket); }},
      {"identities", [&] { stay(socket); }},
      {"connections", [&] { hold_connections(socket, port); }},
      {"scrapes", [&] { scrape(port); }},
      {"ledger", [&] { lie_in_ledger(socket + ".ledger"); }}};
  const auto way = ways.find(words[1]);
  if (way == ways.end()) return 2;
  way->second();
  return 0;
}
