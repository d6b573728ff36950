#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "policy/estimator/io_need.h"

// What the governor believes an attempt will need: a value, made by the estimator from what is
// known at one moment.
namespace plimsoll::policy {

// A quantity as it is believed to be. `spread` is one standard deviation; the two are enough to
// pool the doubts of many jobs: variances add where the jobs' errors are independent.
struct Belief {
  double mean = 0;
  double spread = 0;
};

// How far ahead an estimate looks, in running time of the attempt (frozen time does not count):
// close together at first, where growth is what matters, then doubling.
inline constexpr std::array kHorizons = {
    Duration{},
    Duration{std::chrono::seconds(1)},
    Duration{std::chrono::seconds(2)},
    Duration{std::chrono::seconds(5)},
    Duration{std::chrono::seconds(10)},
    Duration{std::chrono::seconds(20)},
    Duration{std::chrono::seconds(40)},
    Duration{std::chrono::seconds(80)},
    Duration{std::chrono::seconds(160)},
    Duration{std::chrono::seconds(320)},
    Duration{std::chrono::seconds(640)},
    Duration{std::chrono::seconds(1280)},
    Duration{std::chrono::seconds(2560)},
    Duration{std::chrono::seconds(5120)},
    Duration{std::chrono::seconds(10240)},
    Duration{std::chrono::seconds(20480)},
};

// What a belief rests on, best first.
enum class Basis : std::uint8_t {
  exact,   // earlier attempts of the same class, or of the very command
  tool,    // earlier attempts of the same tool
  hint,    // what the user said
  global,  // all earlier attempts
  prior,   // nothing but a constant
};

struct Estimate {
  Belief peak;  // bytes: the most that the attempt will have in use, from now to its end
  // Bytes in use after kHorizons[i] more of running time, for an attempt that still runs then; what
  // it has ended by then is in `survival`.
  std::array<Belief, kHorizons.size()> ahead;
  // By how much more it may have in use for a while near that moment: its own ups and downs, which
  // come so soon after each other, or so uncertainly, that nobody can say when.
  std::array<double, kHorizons.size()> swing{};
  // What the attempt was believed to need at most before it ran: however uncertain it is when it
  // needs that, it is no more at any time. Absent: nothing like it is known, or it has shown more.
  std::optional<Belief> ceiling{};
  // Bytes: its user says that it has no more in use at any time, by a hint, with the doubt about
  // such hints, or by its own limit. Absent: nothing is said, or a hint that has proved too low.
  std::optional<double> told_most{};
  std::array<double, kHorizons.size()> survival;  // 0..1: how likely it still runs then
  // Bytes that the attempt writes to file systems from its start to its end, which is at least what
  // it takes of their space at any time; absent: nothing like it is known.
  std::optional<Belief> written{};
  bool is_written_told = false;  // by the user (JobSpec::disk_hint)
  std::optional<IoNeed> io{};    // over its whole time; absent: nothing like it is known
  Belief cores;                  // mean use over what is left of it
  Belief remaining;              // seconds of running time
  Basis basis = Basis::prior;
  std::uint32_t attempts_known = 0;  // that the basis has; of a command: those of its class
};

}  // namespace plimsoll::policy
