#include "supervisor/sharing/ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <thread>

#include "base/may_wait.h"
#include "base/text.h"
#include "base/units.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::supervisor {
namespace {

// Ten numbers of 64 bits and their spaces fit, padded: each write replaces all of the one before.
constexpr std::size_t kLineSize = 256;
constexpr double kMillicores = 1000;
constexpr mode_t kOwnerReads = 0600;
constexpr mode_t kGroupReads = 0640;
constexpr mode_t kOthersWrite = 0022;

// Whoever looks between the making and the lock takes the file for a dead run's and removes it,
// holding a lock of it for a moment.
constexpr int kJoinTries = 50;
constexpr auto kJoinGap = std::chrono::milliseconds(2);

std::uint64_t to_millicores(double cores) {
  return static_cast<std::uint64_t>(std::llround(std::clamp(cores, 0.0, 1e9) * kMillicores));
}
double to_cores(std::uint64_t millicores) { return static_cast<double>(millicores) / kMillicores; }

// Of the clock that all processes of the machine share; 0 for none.
std::uint64_t to_number(std::optional<Instant> when) {
  return when ? static_cast<std::uint64_t>(when->time_since_epoch().count()) : 0;
}
std::optional<Instant> to_instant(std::uint64_t number) {
  constexpr auto kMost = static_cast<std::uint64_t>(Instant::max().time_since_epoch().count());
  if (number == 0) return std::nullopt;
  return Instant(Duration(static_cast<Duration::rep>(std::min(number, kMost))));
}

// Whether it was written so long ago. By the clock that files are dated with, which may be set
// meanwhile, as its owner may date it as he likes: to the second, which a number holds always.
bool is_older_than(const struct stat& file, std::chrono::seconds age) {
  const auto now = std::chrono::floor<std::chrono::seconds>(wall_now().time_since_epoch()).count();
  return file.st_mtim.tv_sec < now - age.count();
}

WallTime date_of(const struct stat& file) {
  const auto since =
      std::chrono::seconds(file.st_mtim.tv_sec) + std::chrono::nanoseconds(file.st_mtim.tv_nsec);
  return WallTime(std::chrono::duration_cast<WallTime::duration>(since));
}

bool is_linked(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && status.st_nlink > 0;
}

// Belongs to the open file, as flock(2)'s, but to be exclusive it takes leave to write: a member of
// the group, who may read the file, can't make it look alive when its owner has died.
bool lock(int fd, short type) {
  struct flock whole{};
  whole.l_type = type;
  whole.l_whence = SEEK_SET;
  return ::fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

bool is_locked_by_another(int fd) { return !lock(fd, F_RDLCK); }

bool is_of_a_group(int directory) {
  struct stat status{};
  return ::fstat(directory, &status) == 0 && (status.st_mode & S_IRGRP) != 0;
}

uid_t owner_of(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? status.st_uid : static_cast<uid_t>(-1);
}

// What the runs of one user tell together.
void add(policy::RunClaim& sum, const policy::RunClaim& claim) {
  const auto add_need = [](auto& all, const auto& one) {
    all.used += one.used;
    all.claimed += std::max(one.claimed, one.used);
    all.wanting = all.wanting || one.wanting;
  };
  add_need(sum.memory, claim.memory);
  add_need(sum.cores, claim.cores);
  sum.starting += claim.starting;
}

std::optional<LedgerEntry> read_entry(int file) {
  std::array<char, kLineSize> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  return decode_entry({text.data(), static_cast<std::size_t>(size)});
}

}  // namespace

std::string encode(const LedgerEntry& entry) {
  const policy::RunClaim& claim = entry.claim;
  std::string line;
  const auto put = [&line](std::uint64_t number) { line += std::to_string(number) + " "; };
  put(claim.memory.used.count);
  put(claim.memory.claimed.count);
  put(claim.memory.wanting ? 1 : 0);
  put(claim.running);
  put(to_millicores(claim.cores.used));
  put(to_millicores(claim.cores.claimed));
  put(claim.cores.wanting ? 1 : 0);
  put(claim.starting.count);
  put(to_number(claim.oldest));
  put(claim.unsettled);
  if (entry.terms) {
    put(entry.terms->line.count);
    put(to_millicores(entry.terms->cores));
  }
  line.resize(kLineSize - 1, ' ');
  return line + "\n";
}

std::optional<LedgerEntry> decode_entry(std::string_view text) {
  constexpr std::size_t kOfClaim = 10, kOfTerms = 2;
  std::vector<std::uint64_t> numbers;
  for (std::string_view rest = trim(text); !rest.empty();) {
    const auto number = to_u64(take_until(rest, ' '));
    if (!number || numbers.size() == kOfClaim + kOfTerms) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() != kOfClaim && numbers.size() != kOfClaim + kOfTerms) return std::nullopt;
  if (numbers[2] > 1 || numbers[6] > 1) return std::nullopt;
  LedgerEntry entry{
      .claim = {.memory = {{numbers[0]}, {numbers[1]}, numbers[2] == 1},
                .starting = {numbers[7]},
                .cores = {to_cores(numbers[4]), to_cores(numbers[5]), numbers[6] == 1},
                .running = static_cast<std::size_t>(numbers[3]),
                .oldest = to_instant(numbers[8]),
                .unsettled = static_cast<std::size_t>(numbers[9])}};
  if (numbers.size() > kOfClaim) {
    entry.terms = {.line = {numbers[kOfClaim]}, .cores = to_cores(numbers[kOfClaim + 1])};
    if (entry.terms->line.count == 0 || entry.terms->cores <= 0) return std::nullopt;
  }
  return entry;
}

Result<Ledger> Ledger::join(Result<UniqueFd> directory, const std::string& run) {
  may_wait("Ledger::join");
  if (!directory) return pass(std::move(directory));
  for (int tries_left = kJoinTries; tries_left > 0; --tries_left) {
    UniqueFd file(::openat(directory->get(), run.c_str(),
                           O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                           kOwnerReads));
    if (!file && errno != EEXIST) return fail_errno("make " + run + " in the ledger");
    if (file && lock(file.get(), F_WRLCK) && is_linked(file.get())) {
      // Whatever the umask: in a ledger of a group its members read each other's.
      if (is_of_a_group(directory->get())) ::fchmod(file.get(), kGroupReads);
      return Ledger(std::move(*directory), std::move(file), run);
    }
    std::this_thread::sleep_for(kJoinGap);
  }
  return fail("make " + run + " in the ledger: the file is in use, or was removed again and again");
}

Ledger::~Ledger() {
  if (file_) ::unlinkat(directory_.get(), run_.c_str(), 0);
}

Result<void> Ledger::tell(const LedgerEntry& own) {
  may_wait("Ledger::tell");
  const std::string line = encode(own);
  const ssize_t wrote = ::pwrite(file_.get(), line.data(), line.size(), 0);
  if (wrote != static_cast<ssize_t>(line.size())) return fail_errno("write the ledger");
  struct stat status{};
  if (!first_told_ && ::fstat(file_.get(), &status) == 0) first_told_ = date_of(status);
  return {};
}

Result<void> Ledger::ring() {
  may_wait("Ledger::ring");
  if (::futimens(file_.get(), nullptr) != 0) return fail_errno("touch the ledger");
  return {};
}

bool Ledger::is_wanted(uid_t user, const Counts& counts) const {
  if (is_believed(user, ::geteuid())) return counts.believed < kRunsMax;
  return counts.told < kRunsMax && counts.of_user.at(user) <= kRunsOfUserMax;
}

std::optional<LedgerEntry> Ledger::read(const std::string& name, Counts& counts) const {
  struct stat there{}, opened{};
  if (::fstatat(directory_.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) return {};
  // Who may not is told so, as the directory is sticky.
  if (!S_ISREG(there.st_mode)) {
    ::unlinkat(directory_.get(), name.c_str(), S_ISDIR(there.st_mode) ? AT_REMOVEDIR : 0);
    return {};
  }
  const bool is_of_other = !is_believed(there.st_uid, ::geteuid());
  if (++counts.of_user[there.st_uid] > kRunsMax && is_of_other) {
    ::unlinkat(directory_.get(), name.c_str(), 0);
    return {};
  }
  if (!is_wanted(there.st_uid, counts)) return {};
  // A FIFO that took its place must not hold us up.
  const UniqueFd file(
      ::openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &opened) != 0 || opened.st_ino != there.st_ino) return {};
  if (opened.st_uid != there.st_uid || !counts.files.insert(opened.st_ino).second) return {};
  // Others than its owner may write it, so it can't tell whose word it has; a run makes none such.
  if ((opened.st_mode & kOthersWrite) != 0) {
    ::unlinkat(directory_.get(), name.c_str(), 0);
    return {};
  }
  if (!is_locked_by_another(file.get())) {
    ::unlinkat(directory_.get(), name.c_str(), 0);
    return {};
  }
  ++(is_of_other ? counts.told : counts.believed);
  LedgerEntry entry = read_entry(file.get()).value_or(LedgerEntry{});
  if (is_older_than(opened, kFresh)) {
    entry.claim.starting = {};
    entry.claim.unsettled = 0;
  }
  entry.user = opened.st_uid;
  entry.told = date_of(opened);
  if (entry.user != owner_of(directory_.get())) entry.terms.reset();
  return entry;
}

std::vector<LedgerEntry> Ledger::others() {
  may_wait("Ledger::others");
  std::vector<LedgerEntry> entries;
  Counts counts;
  for (auto name = known_.begin(); name != known_.end();) {
    auto entry = read(*name, counts);
    name = entry ? std::next(name) : known_.erase(name);
    if (entry) entries.push_back(std::move(*entry));
  }
  if (!list_) {
    const int fd = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return entries;
    list_.reset(::fdopendir(fd));
    if (!list_) ::close(fd);
  }
  for (std::size_t names_left = kNamesMax; list_ && names_left > 0; --names_left) {
    const dirent* found = ::readdir(list_.get());
    if (found == nullptr) {
      list_.reset();
      break;
    }
    const std::string name = found->d_name;
    if (name == "." || name == ".." || name == run_ || known_.contains(name)) continue;
    auto entry = read(name, counts);
    if (!entry) continue;
    known_.insert(name);
    entries.push_back(std::move(*entry));
  }
  return entries;
}

bool is_believed(uid_t user, uid_t self) { return user == self || user == 0; }

policy::Beside beside_of(const std::vector<LedgerEntry>& others, uid_t self) {
  policy::Beside beside;
  std::set<uid_t> users{self};
  std::map<uid_t, policy::RunClaim> told;
  for (const LedgerEntry& other : others) {
    if (other.user == self) ++beside.runs_of_own;
    if (is_believed(other.user, self)) {
      users.insert(other.user);
      beside.believed.push_back(other.claim);
    } else {
      add(told[other.user], other.claim);
    }
  }
  beside.users = users.size();
  for (const auto& [user, claim] : told) beside.told.push_back(claim);
  return beside;
}

}  // namespace plimsoll::supervisor
