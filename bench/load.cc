// A job for the comparisons of bench/machine.bash and bench/real.py: does one thing, and says what
// it cost.
//
//   load LOG NAME -- COMMAND...       runs COMMAND; adds "NAME done|lost CPU_SECONDS" to LOG
//   load KIND MIB SECONDS CPU_MS      has MIB at its most, lives SECONDS, computes for CPU_MS
//   load text MIB                     writes MIB of text that packs like text
//   load phases PHASE...              one after the other:
//     grow=MIB@RATE  has MIB in the end, with RATE MiB more each second, in small bursts
//     drop=MIB       gives back at once what it has beyond MIB
//     keep=SECONDS   sleeps
//     cpu=SECONDS    computes until it has had so much CPU time
//     times=N        what follows, N times
//
// KIND: fast (all at once), slow (evenly), steps (five), saw (four teeth), cpu (next to none).
// Work is counted, not timed: who is paused or has few cores takes longer for the same.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr unsigned long kMib = 1UL << 20;
constexpr unsigned long kTurnsPerSecond = 50;  // a pause is felt within one of them

[[noreturn]] void die(const std::string& what) {
  std::perror(("load: " + what).c_str());
  std::exit(99);
}

pid_t child = 0;

// The command is ended; its parent stays to say what was lost with it.
void end_child(int) {
  if (child > 0) ::kill(child, SIGKILL);
}

double cpu_seconds(const rusage& usage) {
  constexpr double kMicro = 1e-6;
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * kMicro;
}

int witness(const char* log, const char* name, char** command) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, end_child);
  child = ::fork();
  if (child < 0) die("fork");
  if (child == 0) {
    ::execvp(command[0], command);
    die(command[0]);
  }
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0) {
  }
  const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  char line[200];
  const int length = std::snprintf(line, sizeof line, "%s %s %.3f\n", name, done ? "done" : "lost",
                                   cpu_seconds(usage));
  const int file = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0 || ::write(file, line, static_cast<size_t>(length)) < 0) die(log);
  return done ? 0 : 1;
}

// The share of the peak that a job of this kind has after `share` of its time.
double level(const std::string& kind, double share) {
  if (kind == "fast") return 1;
  if (kind == "slow") return share;
  constexpr double kSteps = 5, kTeeth = 4, kFloor = 0.1;
  if (kind == "steps") return static_cast<double>(static_cast<int>(share * kSteps) + 1) / kSteps;
  if (kind == "saw") {
    const double tooth = share * kTeeth;
    return kFloor + (1 - kFloor) * (tooth - static_cast<double>(static_cast<int>(tooth)));
  }
  return 0;
}

// About a millisecond on a machine of today.
void compute() {
  constexpr unsigned kRounds = 1'000'000;
  volatile std::uint64_t work = 1;
  for (unsigned i = 0; i < kRounds; ++i) work = work * 3 + i;
}

int load(const std::string& kind, unsigned long mib, double seconds, unsigned long cpu_ms) {
  const unsigned long size = std::max(mib, 1UL) * kMib;
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) die("mmap");
  char* const memory = static_cast<char*>(mapped);
  const auto turns =
      std::max(1UL, static_cast<unsigned long>(seconds * static_cast<double>(kTurnsPerSecond)));
  unsigned long have = 0, computed = 0;
  for (unsigned long turn = 0; turn < turns; ++turn) {
    const double share = static_cast<double>(turn + 1) / static_cast<double>(turns + 1);
    const auto want =
        std::min(size, static_cast<unsigned long>(level(kind, share) * static_cast<double>(size)));
    if (want > have) std::memset(memory + have, 1, want - have);
    if (want < have && ::madvise(memory, size, MADV_DONTNEED) != 0) die("madvise");
    if (want < have) std::memset(memory, 1, want);
    have = want;
    for (; computed < cpu_ms * (turn + 1) / turns; ++computed) compute();
    if (kind != "cpu") ::usleep(1'000'000 / kTurnsPerSecond);
  }
  return 0;
}

// What `load phases` has in use: a mapping of which it has written the beginning.
class Memory {
 public:
  Memory() {
    void* const mapped = ::mmap(nullptr, kMost, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) die("mmap");
    memory_ = static_cast<char*>(mapped);
  }

  void grow(double mib, double mib_per_second) {
    const double turn_mib = mib_per_second / static_cast<double>(kTurnsPerSecond);
    const auto size = std::min(kMost, static_cast<unsigned long>(mib * kMib));
    while (have_ < size) {
      const auto piece = std::min(size - have_, static_cast<unsigned long>(turn_mib * kMib) + 1);
      std::memset(memory_ + have_, 1, piece);
      have_ += piece;
      ::usleep(1'000'000 / kTurnsPerSecond);
    }
  }

  void drop(double mib) {
    const auto size = static_cast<unsigned long>(mib * kMib);
    if (size >= have_) return;
    if (::madvise(memory_ + size, have_ - size, MADV_DONTNEED) != 0) die("madvise");
    have_ = size;
  }

 private:
  static constexpr unsigned long kMost = 64UL << 30;
  char* memory_ = nullptr;
  unsigned long have_ = 0;
};

void compute_for(double seconds) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double end = cpu_seconds(usage) + seconds;
  while (cpu_seconds(usage) < end) {
    compute();
    ::getrusage(RUSAGE_SELF, &usage);
  }
}

int phases(Memory& memory, char** begin, char** end) {
  for (char** at = begin; at < end; ++at) {
    const std::string phase = *at;
    const auto equals = phase.find('=');
    if (equals == std::string::npos) die(phase);
    const std::string kind = phase.substr(0, equals), value = phase.substr(equals + 1);
    const double number = std::stod(value);
    if (kind == "times") {
      // The last time is what this loop goes on with.
      for (double left = number; left > 1; --left) {
        if (const int status = phases(memory, at + 1, end); status != 0) return status;
      }
    } else if (kind == "grow") {
      memory.grow(number, std::stod(value.substr(value.find('@') + 1)));
    } else if (kind == "drop") {
      memory.drop(number);
    } else if (kind == "keep") {
      ::usleep(static_cast<useconds_t>(number * 1e6));
    } else if (kind == "cpu") {
      compute_for(number);
    } else {
      die(phase);
    }
  }
  return 0;
}

int text(unsigned long mib) {
  std::uint64_t state = 1;
  std::string line;
  for (unsigned long written = 0; written < mib * kMib; written += line.size()) {
    line.clear();
    while (line.size() < 80) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      line += std::to_string((state >> 33U) % 100'000) + ' ';
    }
    line += '\n';
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size()) die("write");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 4 && std::strcmp(argv[3], "--") == 0) return witness(argv[1], argv[2], argv + 4);
  if (argc == 3 && std::strcmp(argv[1], "text") == 0) return text(std::stoul(argv[2]));
  if (argc > 2 && std::strcmp(argv[1], "phases") == 0) {
    Memory memory;
    return phases(memory, argv + 2, argv + argc);
  }
  if (argc == 5) return load(argv[1], std::stoul(argv[2]), std::stod(argv[3]), std::stoul(argv[4]));
  std::fputs(
      "usage: load LOG NAME -- COMMAND... | load KIND MIB SECONDS CPU_MS | load text MIB | "
      "load phases PHASE...\n",
      stderr);
  return 99;
}
