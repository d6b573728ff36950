#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/units.h"
#include "guardian/adoption_host.h"
#include "guardian/protocol.h"

namespace plimsoll::guardian {

// Whose children the guardian has adopted, and the end of those that have left the group of their
// job when that is over: whoever has left is in no other list.
//
// A child is of the job in whose group it is when it is seen first, or which has begun its session,
// if that is its user's or ours. Of our own user's, the name in its environment tells too; others'
// are not asked, as they may say what they like. Where none of this tells, it is of all the jobs
// that ran when it was seen and could have been its user's, and ends with the last of them. While
// the guardian has children of before it was one, those that can't be told may be theirs, and are
// left alone.
//
// Children of one user keep no other user's job from its end, however many come: they are told
// apart by their users first, for which a look at each is enough, and then read and killed by users
// in turn. A job waits for those of its own user and of ours alone that came before its end, one of
// ours for a moment for all, as it may have become anybody.
//
// Knows nothing of jobs without a group. All of /proc is never read: a look is one list of own
// children that are new, and three files of each.
class Adoptions {
 public:
  struct Job {
    pid_t main{};
    uid_t user{};
    std::string group;  // its directory, from that of the run on: "/plimsoll-RUN/pool/job-1"
    std::string name;   // as in kJobVariable, or empty; of several of a name none is told by it
  };
  // So many are read or killed in one turn: a millisecond. Others wait, as do starts and ends
  // meanwhile.
  static constexpr std::size_t kReadsMax = 32;
  // The same of those whose user is found.
  static constexpr std::size_t kSortedMax = 256;
  // Of a CPU at most, where looks find more and more children or there are thousands.
  static constexpr int kCostShare = 5;
  // Everybody's end waits for the next list of children, which is not put off longer than this or
  // than the last one took.
  static constexpr Duration kListGapMax = std::chrono::milliseconds(40);
  static constexpr Duration kFreeLook = std::chrono::milliseconds(1);
  // A job's report does not wait longer for the ends of who has left it.
  static constexpr Duration kPatience = std::chrono::seconds(1);
  // Nor that of a job of ours for other users' children to be read.
  static constexpr Duration kPatienceWithOthers = std::chrono::milliseconds(100);

  // `host` must outlive this.
  explicit Adoptions(AdoptionHost& host) : host_(host), user_(host.user()) {}

  // Children of before.
  void inherit(const std::vector<pid_t>& children) {
    inherited_.insert(children.begin(), children.end());
  }

  void began(ChildId id, Job job);
  void never_began(ChildId id) { forget(id); }
  // A child has been waited for: a main process, or one that came here.
  void ended(pid_t child);

  // Looks at the children, if anything has happened since the last look and that is due. `started`:
  // those that this process has started itself.
  void look(const std::unordered_map<pid_t, ChildId>& started);

  // The main process of a job has been waited for, and a look was taken. False if nobody is left of
  // the job, which is over then; else over() is to follow when its group is empty.
  [[nodiscard]] bool main_ended(ChildId id);
  // Who is left of it now has left its group, and is killed. Answered by settle().
  void over(ChildId id);

  // What became of them, of each job that is over.
  [[nodiscard]] std::vector<Escaped> settle();
  // Those that were killed or could not be, and of which no job can be told that it was theirs.
  [[nodiscard]] std::vector<Escapee> take_strays() { return std::exchange(strays_, {}); }

  // When look() and settle() have something to do again; nothing: after the next event.
  [[nodiscard]] std::optional<Duration> next_turn() const;

 private:
  enum class State : std::uint8_t { kept, doomed, killed, refused };
  struct Orphan {
    AdoptedChild about;
    ChildId newest{};  // of the jobs that ran when it was seen
    std::optional<ChildId> owner;
    State state = State::kept;
    bool had_left = false;
    bool is_told = false;
  };
  struct Unseen {
    pid_t pid{};
    ChildId newest{};
    std::uint64_t listing = 0;  // in which it was seen first
  };
  struct Work {  // what is to be done with one user's
    std::deque<Unseen> unseen;
    std::deque<pid_t> doomed;
  };
  struct Ending {
    std::string group;
    uid_t user{};
    std::uint64_t listing = 0;  // the first after its end, and after that of each that was its own
    Instant deadline{};
    Instant others_until{};  // so long it waits for other users'
    std::vector<Escapee> escaped;
  };
  struct Heir {
    std::uint64_t start = 0;
    ChildId owner{};
  };

  void forget(ChildId id);
  void find(const std::unordered_map<pid_t, ChildId>& started);
  void list(const std::unordered_map<pid_t, ChildId>& started);
  bool sort();
  void work();
  [[nodiscard]] bool has_to_list() const { return has_changed_ || !unsorted_.empty(); }
  void read(const Unseen& unseen);
  [[nodiscard]] std::optional<ChildId> owner_of(pid_t pid, const Orphan& orphan);
  [[nodiscard]] std::optional<ChildId> in_group(const std::vector<std::string>& groups) const;
  [[nodiscard]] std::optional<ChildId> in_session(const AdoptedChild& child) const;
  [[nodiscard]] std::optional<ChildId> by_name(pid_t pid, const AdoptedChild& child) const;
  // Of the jobs that could have brought it forth; one, if there is one alone.
  struct Candidates {
    std::size_t count = 0;  // 2 stands for more
    ChildId first{};
  };
  [[nodiscard]] Candidates candidates(const Orphan& orphan) const;
  void keep(pid_t pid, Orphan orphan);
  void end_unowned();
  void mark_dying(pid_t pid);
  void end(pid_t pid);
  void tell(const Orphan& orphan, pid_t pid, bool lives);
  enum class Of : std::uint8_t { anybody, itself };  // whose children a job of ours waits for
  [[nodiscard]] bool may_be_unseen(uid_t user, std::uint64_t listing, Of whose) const;
  [[nodiscard]] bool is_busy_with(ChildId id, const Ending& ending) const;

  AdoptionHost& host_;
  uid_t user_;
  std::unordered_set<pid_t> inherited_;
  std::map<ChildId, Job> jobs_;               // that are not over
  std::map<uid_t, std::set<ChildId>> users_;  // the same by user
  std::unordered_map<std::string, ChildId> groups_;
  std::unordered_map<std::string, std::set<ChildId>> names_;  // of our own user's jobs
  std::unordered_map<int, ChildId> sessions_;
  std::unordered_map<pid_t, Orphan> orphans_;
  std::map<ChildId, std::set<pid_t>> owned_;
  std::set<pid_t> unowned_;
  std::deque<Unseen> unsorted_;        // whose user is to be found
  std::map<uid_t, Work> work_;         // none is empty
  uid_t last_ = 0;                     // whose turn was the last
  std::unordered_set<pid_t> waiting_;  // unsorted or unseen
  std::set<pid_t> unanswered_;         // could not be looked at: to be asked again
  std::uint64_t listings_ = 0;
  std::unordered_map<pid_t, Heir> heirs_;
  std::map<ChildId, Ending> ending_;
  std::vector<Escapee> strays_;
  bool is_used_ = false;      // a job has begun: else children are not ours to look at
  bool has_changed_ = false;  // since the last look
  Instant list_due_{}, work_due_{};
};

}  // namespace plimsoll::guardian
