// A small executor. It reads shell commands from standard input, one on each line, and runs each
// command when the machine's governor admits it. It starts, stops and kills its processes itself;
// the daemon measures them by their pids. It reads further commands only when there is room,
// because the daemon takes a limited number of jobs from one client.
//
//   printf 'sleep 1\nmake -j4\n' | executor
//
// The exit status is the number of commands that failed, at most 100, or 101 if the governor can't
// be reached.
#include <fcntl.h>
#include <plimsoll/governor.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>
#include <string>

namespace {

constexpr int kFailuresMax = 100;
constexpr int kNoGovernor = 101;
// The daemon refuses more than 1000 jobs of one client.
constexpr std::size_t kEnteredMax = 500;

// Starts a command in a session of its own, so that one signal reaches all its processes. Its
// standard input is empty, because the lines of ours are commands.
pid_t start(const std::string& command) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setsid();
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(127);
}

class Executor {
 public:
  int run() {
    governor_ = plimsoll::client::Governor::connect({}, handlers());
    for (std::string line; reap(kEnteredMax - 1) && std::getline(std::cin, line);) enter(line);
    if (!reap(0)) return kNoGovernor;
    return std::min(failures_, kFailuresMax);
  }

 private:
  struct Command {
    std::string text;
    pid_t pid = 0;          // 0: not admitted yet, or ended
    bool admitted = false;  // at least once
    bool cancelled = false;
    bool succeeded = false;
  };
  using Commands = std::map<std::string, Command>;

  plimsoll::client::Handlers handlers() {
    plimsoll::client::Handlers handlers;
    handlers.admit = [this](const std::string& id, unsigned attempt) { admit(id, attempt); };
    handlers.hold = [](const std::string& id, const std::string& reason) {
      std::fprintf(stderr, "executor: %s waits: %s\n", id.c_str(), reason.c_str());
    };
    handlers.pause = [this](const std::string& id, const std::string&) { signal(id, SIGSTOP); };
    handlers.resume = [this](const std::string& id, const std::string&) { signal(id, SIGCONT); };
    handlers.cancel = [this](const std::string& id, const plimsoll::client::Cancelled& cancel) {
      std::fprintf(stderr, "executor: %s has to end: %s\n", id.c_str(), cancel.reason.c_str());
      const std::lock_guard lock(mutex_);
      commands_[id].cancelled = true;
      signal_locked(commands_[id], SIGKILL);
    };
    handlers.left = [this](const std::string& id, bool comes_again) {
      if (comes_again) return;
      const std::lock_guard lock(mutex_);
      forget(commands_.find(id));
    };
    handlers.refused = [this](const std::string& id, int, const std::string& message) {
      std::fprintf(stderr, "executor: %s: %s\n", id.c_str(), message.c_str());
      const std::lock_guard lock(mutex_);
      // If the job was admitted, its watch() came after its end, and leave() follows.
      const auto found = commands_.find(id);
      if (found != commands_.end() && !found->second.admitted) forget(found);
    };
    handlers.lost = [this](int, const std::string& message) {
      std::fprintf(stderr, "executor: no governor: %s\n", message.c_str());
      const std::lock_guard lock(mutex_);
      is_lost_ = true;
      for (auto& [id, command] : commands_) signal_locked(command, SIGKILL);
      changed_.notify_all();
    };
    return handlers;
  }

  void enter(const std::string& text) {
    const std::string id = "line-" + std::to_string(++lines_);
    {
      const std::lock_guard lock(mutex_);
      commands_[id].text = text;
    }
    plimsoll::client::Job job;
    job.id = id;
    job.job_class = text.substr(0, text.find(' '));
    job.restartable = true;
    governor_->enter(job);
  }

  void admit(const std::string& id, unsigned /*attempt*/) {
    const std::lock_guard lock(mutex_);
    Command& command = commands_[id];
    command.admitted = true;
    command.cancelled = false;
    command.pid = start(command.text);
    plimsoll::client::Place place;
    place.pid = command.pid;
    governor_->watch(id, place);
    changed_.notify_all();
  }

  // The job has left and will not come again, or was refused. If it did not run to its end, it has
  // failed.
  void forget(Commands::iterator command) {
    if (command == commands_.end()) return;
    if (!command->second.succeeded) ++failures_;
    commands_.erase(command);
    changed_.notify_all();
  }

  void signal(const std::string& id, int number) {
    const std::lock_guard lock(mutex_);
    signal_locked(commands_[id], number);
  }
  static void signal_locked(const Command& command, int number) {
    if (command.pid > 0) ::kill(-command.pid, number);
  }

  // Waits for children to end, or for one to be started, until at most `most` commands are left.
  // Returns false if the connection to the governor is lost.
  bool reap(std::size_t most) {
    std::unique_lock lock(mutex_);
    while (true) {
      const bool runs = std::any_of(commands_.begin(), commands_.end(),
                                    [](const auto& entry) { return entry.second.pid > 0; });
      if (commands_.size() <= most || (!runs && is_lost_)) return !is_lost_;
      if (!runs) {
        changed_.wait(lock);
        continue;
      }
      lock.unlock();
      int status = 0;
      const pid_t ended = ::wait(&status);
      lock.lock();
      if (ended > 0) leave(ended, status);
    }
  }

  void leave(pid_t ended, int status) {
    for (auto& [id, command] : commands_) {
      if (command.pid != ended) continue;
      signal_locked(command, SIGKILL);  // what it has left running
      command.pid = 0;
      using plimsoll::client::EndKind;
      plimsoll::client::End end = plimsoll::client::exited(WEXITSTATUS(status));
      if (WIFSIGNALED(status)) end = {EndKind::signalled, WTERMSIG(status)};
      if (command.cancelled) end = {EndKind::cancelled, 0};
      command.succeeded = !command.cancelled && status == 0;
      if (!is_lost_) governor_->leave(id, end);
      return;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Commands commands_;  // that have not left
  int lines_ = 0, failures_ = 0;
  bool is_lost_ = false;
  std::unique_ptr<plimsoll::client::Governor> governor_;
};

}  // namespace

int main() { return Executor().run(); }
