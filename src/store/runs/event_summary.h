#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "store/runs/event_log.h"

// What the events of a run add up to, and reasons that say the same with other numbers, as one.
namespace plimsoll::report {

// A reason with its numbers taken out ("needs ..., only ... is free"): equal for reasons that say
// the same.
[[nodiscard]] std::string without_numbers(std::string_view reason);

// Reasons that are equal without_numbers(), as one sentence.
class MergedReason {
 public:
  explicit MergedReason(std::string_view reason);

  void add(std::string_view reason);

  // Numbers that were always the same as they are, the others from the least to the greatest:
  // "waits for cores: the running jobs want 1.9 to 2.4 and there are 2".
  [[nodiscard]] std::string text() const;

 private:
  // A word, or a number with its unit.
  struct Part {
    std::string text;             // a word; of a number the one that came first
    std::optional<double> least;  // of a number whose size is known
    std::optional<double> greatest;
    std::string least_text, greatest_text;
    std::string unit;         // of all that came; empty: none, or several
    std::string punctuation;  // behind a number
    bool is_number = false;
    bool differs = false;
  };
  static std::vector<Part> parts_of(std::string_view reason);
  friend std::string without_numbers(std::string_view reason);

  std::vector<Part> parts_;
};

// What kept jobs from starting for one reason. The governor names one waiting job at a time, so the
// times of all reasons together are those in which the run was held.
struct HeldFor {
  std::string reason;     // as MergedReason tells all that say the same
  std::size_t times = 0;  // how often it began
  std::size_t jobs = 0;   // that were named
  Duration in_all{};
};

struct Pause {
  Duration at{};
  std::optional<Duration> length{};  // absent: it did not end
  std::string job;
  std::string reason;
};

// An attempt that was ended for its memory: evicted or failed.
struct Loss {
  Duration at{};
  policy::EventKind kind{};
  std::string job;
  std::string reason;
};

// What happened to all jobs together for one reason: reclaims, alarms, moves of the line.
struct Deed {
  policy::EventKind kind{};
  std::string reason;     // as HeldFor's
  std::size_t times = 0;  // how often
  Duration first{}, last{};
};

struct EventSummary {
  std::vector<HeldFor> held;         // longest first
  std::vector<Pause> pauses;         // in order
  std::vector<Loss> losses;          // in order
  std::vector<Deed> deeds;           // by their first time
  Duration end{};                    // of the last event
  std::size_t ended = 0;             // jobs that have
  std::vector<std::string> running;  // jobs whose attempt has not ended, by name
};

// `events` in order of time. What has not ended with the last of them ends there.
[[nodiscard]] EventSummary event_summary_of(const std::vector<RecordedEvent>& events);

}  // namespace plimsoll::report
