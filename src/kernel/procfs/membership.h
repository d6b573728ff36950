#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernel/procfs/env_tag.h"
#include "kernel/procfs/table.h"

namespace plimsoll::procfs {

// The processes of one attempt, without a cgroup.
enum class FamilyId : std::uint64_t {};

// Those that belong to the run, and to no job that can be told: of a job that is over, or of one
// that has hidden them well.
inline constexpr FamilyId kStrays{0};

// What Membership asks about single processes, seldom: it costs more than a line of the table.
class TagReader {
 public:
  virtual ~TagReader() = default;
  // The value of kTagVariable of a process; nothing if it has none, or can't be read.
  [[nodiscard]] virtual std::optional<std::string> tag_of(int pid) = 0;
};

// Says which process belongs to which family. Pure: tables and marks go in.
//
// A process is of the family of its parent. One whose parent has ended comes to the guardian, which
// is a subreaper: then it is known from an earlier look, by a session that began in the family, by
// its mark, or because there is one family only. A family once found stays.
class Membership {
 public:
  struct Config {
    Id guardian;
    Id supervisor;
    std::string run;
    std::uint64_t space = 0;  // of EnvTag
    // Children that the guardian had before it was one. While there are any, an orphan without a
    // mark may be one of theirs, and is left alone.
    std::vector<Id> foreign{};
  };
  explicit Membership(Config config);

  // A family whose main process is about to be born; `job` as in its mark. Until it is, nobody
  // who can't be told is put down to anybody.
  FamilyId begin(const std::string& job);
  // Its main process, a child of the guardian that has not been waited for.
  void born(FamilyId family, int main);
  // The main process has been waited for, or will never be born.
  void main_ended(FamilyId family);
  // Who is left in it becomes a stray.
  void end(FamilyId family);

  // The guardian has died: orphans go to whoever is above it, among everybody else's. From now on
  // every process of the machine is looked at for a session or a mark.
  void guardian_ended() { guardian_lives_ = false; }

  void take(const Table& table, TagReader& tags);

  // As of the last take(), by pid.
  [[nodiscard]] const std::map<int, Stat>& members(FamilyId family) const;
  // Somebody lives in it, or is about to.
  [[nodiscard]] bool is_populated(FamilyId family) const;
  [[nodiscard]] std::vector<FamilyId> families() const;  // kStrays among them
  [[nodiscard]] const Config& config() const { return config_; }

 private:
  struct Family {
    std::string job;
    bool expects_birth = false;
    std::optional<int> main;
    std::set<int> sessions;  // that a member has led
    std::map<int, Stat> members;
  };
  // Nothing: it belongs to nobody here.
  using Owner = std::optional<FamilyId>;

  Owner owner_of(const Stat& stat, const Table& table, TagReader& tags,
                 std::map<int, Owner>& found);
  std::optional<Owner> owner_by_itself(const Stat& stat, TagReader& tags);
  Owner owner_of_orphan(const Stat& stat, TagReader& tags);
  std::optional<FamilyId> by_trace(const Stat& stat, TagReader& tags);

  Config config_;
  bool guardian_lives_ = true;
  std::uint64_t last_ = 0;
  std::map<FamilyId, Family> families_;
  std::map<Id, FamilyId> known_;  // members of the last table
  std::set<Id> unmarked_;         // of the last table: looked at in vain, after the guardian's end
};

}  // namespace plimsoll::procfs
