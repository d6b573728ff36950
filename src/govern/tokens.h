#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "policy/scheduler/status.h"

// How many tokens a jobserver should have. Pure.
//
// A token is a byte in a pipe. Who takes it may run one command more, and puts it back when that
// has ended; nobody can see who took it. Each client runs one command without any, in its implicit
// slot, so that N slots are N - 1 tokens.
namespace plimsoll::govern {

// One slot a core of a share, at least one, and `jobs_max` at most if that is not 0. A share that
// is a little less than a core is one.
[[nodiscard]] std::size_t slots_of_share(double cores, unsigned jobs_max);

// How many commands may run at once, as the governor has it.
struct Slots {
  std::size_t own = 1;           // as of slots_of_share()
  std::size_t lent = 0;          // more, as so many steps have a token and do not run
  std::size_t running = 0;       // steps that run
  bool short_of_memory = false;  // nothing more is to begin

  bool operator==(const Slots&) const = default;
};

// Of a run's share. Steps that are held for memory, or paused for another reason than memory, lend
// theirs: what else there is may be smaller. No more is lent than there is, or every step that is
// begun instead would be held as well. While a step is paused for memory, and until memory is calm
// again, nothing more is to begin. `small`: steps that run beside those of `status`.
[[nodiscard]] Slots slots_of(const policy::SchedulerStatus& status, std::size_t small);

// What is done to the pipe.
struct TokenChange {
  std::size_t put = 0;
  std::size_t take = 0;
  // More are with clients than there should be: those that come back are to be taken at once.
  bool takes_what_comes = false;

  bool operator==(const TokenChange&) const = default;
};

// Counts the tokens of one pipe: those that it has, and those that clients have taken. Tokens of
// clients that were killed come back: when for some time more are out than anybody lives who could
// hold one, the difference is lost, and others take their place.
//
// Invariant: issued() is the number of tokens in the pipe and with clients, as far as can be known.
// A token that was believed to be lost and comes back is counted again.
class Tokens {
 public:
  // More slots than any machine has processors: a pipe holds 65,536 bytes.
  static constexpr std::size_t kMost = 4096;
  // A client has its token for some milliseconds before its command is seen to live, and after
  // that has ended. Doubled each time that it was not enough.
  static constexpr Duration kPatience = std::chrono::seconds(1);
  static constexpr Duration kPatienceMost = std::chrono::minutes(2);

  // `free`: tokens in the pipe now. `holders`: how many live that may hold a token, each one at
  // most; nothing: that can't be known, as one that lives may hold several.
  [[nodiscard]] TokenChange look(const Slots& slots, std::size_t free,
                                 std::optional<std::size_t> holders, Instant now);
  // So much was done of what look() wanted.
  void put(std::size_t tokens) { issued_ += tokens; }
  void took(std::size_t tokens) { issued_ -= tokens < issued_ ? tokens : issued_; }
  // Whoever could hold one has ended, and the pipe is empty.
  void reset();

  [[nodiscard]] std::size_t issued() const { return issued_; }
  // That have come back after all clients that could have held them were gone.
  [[nodiscard]] std::uint64_t recovered() const { return recovered_; }

 private:
  void find_lost(std::size_t out, std::optional<std::size_t> holders, Instant now);

  std::size_t issued_ = 0;
  std::uint64_t recovered_ = 0;
  std::size_t missing_ = 0;  // at least so many have had no holder since since_
  std::optional<Instant> since_;
  Duration patience_ = kPatience;
};

}  // namespace plimsoll::govern
