#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/job_row.h"
#include "analysis/rank_statistics.h"
#include "base/units.h"
#include "policy/estimator/attempt_summary.h"
#include "store/history/store.h"

// Which resources to ask for, of a scheduler that wants a number for each kind of job.
namespace plimsoll::analysis {

// What one attempt has shown.
struct SeenAttempt {
  Bytes peak{};  // of memory that can't be dropped
  policy::Seen peak_seen = policy::Seen::whole;
  Duration ran{};
  policy::Seen ran_seen = policy::Seen::whole;
  std::optional<double> cores{};  // mean use
  std::optional<Bytes> asked{};   // its hint or its own limit, if it had one
};

struct SeenClass {
  std::string name;
  std::vector<SeenAttempt> attempts;  // at least one
};

// By class, those whose name matches a pattern of glob(7), in order of their names. Of jobs only
// what was executed counts; a job that did not succeed shows only what it had reached.
[[nodiscard]] std::vector<SeenClass> seen_classes(const std::vector<JobRow>& jobs,
                                                  const std::string& pattern);
[[nodiscard]] std::vector<SeenClass> seen_classes(const std::vector<history::Entry>& entries,
                                                  const std::string& pattern);

// Where there are too few attempts for a bound, so much is put on top of the most that was seen. A
// guess, which `confidence` does not count on.
inline constexpr double kRoomAboveMost = 0.1;
// A time limit kills, and a busy machine makes jobs slower: it is so many times the bound.
inline constexpr double kTimeLimitFactor = 2;
// Requests of memory are rounded up to four binary digits, and to no less than this.
inline constexpr Bytes kRequestMin{std::uint64_t{16} << 20};
// So much of a further core does not make it worth asking for.
inline constexpr double kCoreTolerance = 0.1;

// What the request for memory rests on.
enum class Basis : std::uint8_t {
  bound,      // a bound by rank, with the confidence asked for
  most_seen,  // too few attempts: the most that was seen, with room
  cut_short,  // an attempt that was ended before its peak had had more: with room on top of that
};
[[nodiscard]] std::string_view name_of(Basis basis);

// What was asked for before, over the attempts of which that is known.
struct Saving {
  std::size_t attempts = 0;
  Bytes asked_most{};
  double asked_byte_seconds = 0;  // reserved, while they ran
  double saved_byte_seconds = 0;  // below zero: it was too little
};

struct ClassAdvice {
  std::string name;
  Bytes memory{};  // to ask for
  Basis basis{};
  // That the share `quantile` of further attempts needs no more than `memory`.
  double confidence = 0;
  std::size_t count = 0;               // attempts
  std::size_t at_least = 0;            // of them those that were ended before their peak
  std::size_t over = 0;                // of them those that had more than `memory`
  Bytes median{}, most{};              // of their peaks
  unsigned cores = 1;                  // to ask for
  std::optional<double> cores_used{};  // the quantile of mean use; nothing: not known
  Duration time_limit{};               // whole minutes
  double byte_seconds = 0;             // that all attempts would have reserved with `memory`
  std::optional<Saving> saving{};
};

struct Advice {
  Coverage coverage;
  std::vector<ClassAdvice> classes;  // largest request first
  // What one request for all classes, the largest, would have reserved, over what these do.
  double one_for_all = 1;
};

[[nodiscard]] Advice advise(const std::vector<SeenClass>& classes, const Coverage& coverage);

}  // namespace plimsoll::analysis
