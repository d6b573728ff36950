#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/procfs/parse.h"
#include "kernel/procfs/table.h"

namespace plimsoll::procfs {

// The name that a job's processes carry in their environment, so that those which have left their
// parents and their session are known again. A hint, never a proof: who clears its environment
// loses it.

// In a job's environment: the marks of the runs that it is within, the outermost first, with spaces
// between.
inline constexpr const char* kTagVariable = "PLIMSOLL_MARK";

// Marks of runs within runs that are kept; deeper ones lose the outermost. Nobody nests so deep.
inline constexpr std::size_t kMarksMax = 16;

// One job of one run. The two processes of the run are in it, so that anybody can tell whether the
// run lives. As text: RUN/SPACE/GUARDIAN.START/SUPERVISOR.START/JOB.
struct EnvTag {
  std::string run;
  std::uint64_t space = 0;  // the pid namespace of the two: its inode (namespaces(7))
  Id guardian;
  Id supervisor;
  std::string job;  // name of its group; no space, no slash
  bool operator==(const EnvTag&) const = default;
};
std::string to_text(const EnvTag& mark);
std::optional<EnvTag> parse_tag(std::string_view word);

// What the variable has to be for a job of `mark`, started by somebody whose own is `inherited`.
std::string with_tag(std::string_view inherited, const EnvTag& mark);

// Whether both are of one run. Its name does not tell: anybody may write any into his environment.
[[nodiscard]] bool is_same_run(const EnvTag& a, const EnvTag& b);
// The mark of the run of `mark` among those of a variable's value.
std::optional<EnvTag> find_mark(std::string_view value, const EnvTag& mark);

// The innermost mark.
std::optional<EnvTag> last_mark(std::string_view value);

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
  // It has, and of what it has started nobody lives. Whether nobody lives in the family then: who
  // was adopted may.
  bool left_nobody(FamilyId family);
  // Who is left in it becomes a stray.
  void end(FamilyId family);

  // These processes live in the family from now on, and so does whom they start, wherever they were
  // before and whoever waits for them. It expects no birth any more.
  void adopt(FamilyId family, const std::vector<Stat>& processes);
  // All that live in the one live in the other.
  void give(FamilyId from, FamilyId to);
  // The family that the process was last found in or adopted by; nothing if it was in none.
  [[nodiscard]] std::optional<FamilyId> family_of(const Id& process) const;
  [[nodiscard]] const std::string& job_of(FamilyId id) const { return families_.at(id).job; }

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
    bool has_adopted = false;
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
  std::map<Id, FamilyId> known_;  // members of the last table, and who was adopted since
  std::set<Id> unmarked_;         // of the last table: looked at in vain, after the guardian's end
};

}  // namespace plimsoll::procfs
