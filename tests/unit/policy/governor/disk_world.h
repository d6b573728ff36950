#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "governor_story.h"

// A model of a disk and of cores, with jobs that read and jobs that compute.
namespace plimsoll::policy {

inline constexpr double kMega = 1e6;

// How a device divides its time: what it moves for one, and for so many at once, bytes a second.
struct Disk {
  double alone = 50 * kMega;
  double most = 50 * kMega;
  double seeks = 0;  // part of that which each one more costs
  [[nodiscard]] double moves(std::size_t readers) const {
    const auto count = static_cast<double>(readers);
    const double lost = 1 + seeks * std::max(0.0, count - 1);
    return std::min(alone * count, most) / lost;
  }
};

// Two cores, and memory for everything. Readers are ids below 100, who computes those from 100 on.
struct DiskWorld : Story {
  explicit DiskWorld(const Disk& of, GovernorConfig config = config_of()) : Story(config) {
    device = of;
  }
  static GovernorConfig config_of() { return {.line = mib(100'000), .cores = 2, .jobs_max = 1000}; }

  static bool is_reader(unsigned id) { return id < 100; }

  // A reader that a class of its own is known for; all that compute are of one class.
  void comes(unsigned id, double work, std::optional<IoNeed> need, Tenant tenant = kHost) {
    Estimate estimate = flat({.mib = 10,
                              .seconds = is_reader(id) ? seconds : 20,  // readers are first
                              .cores = is_reader(id) ? 0.05 : 1.0});
    estimate.io = need;
    const Kind kind{is_reader(id) ? id : 100U};
    governor.expect(kind, estimate);
    left[id] = work;
    enters({.job = JobId{id}, .kind = kind, .tenant = tenant}, t);
  }
  void readers_come(unsigned count, double megabytes) {
    for (unsigned id = 1; id <= count; ++id) comes(id, megabytes * kMega, kReads);
  }
  void computers_come(unsigned count, double cpu_seconds) {
    for (unsigned id = 101; id <= 100 + count; ++id) comes(id, cpu_seconds, kComputesOnly);
  }

  [[nodiscard]] std::size_t reading() const {
    std::size_t count = 0;
    for (const auto& [id, started_at] : going) count += is_reader(id) && !dozes ? 1U : 0U;
    return count;
  }

  void decide() {
    admitted.clear();
    for (const std::string& word : rules(t)) {
      ASSERT_THAT(word, ::testing::HasSubstr("admit"));
      going[number_in(word)] = t;
      admitted.push_back(number_in(word));
    }
  }

  // A tenth of a second of everybody.
  void step() {
    const double moved = device.moves(reading());
    t += kStep;
    std::set<unsigned> over;
    for (const auto& [id, started_at] : going) {
      double& mine = left[id];
      if (!is_reader(id)) {
        mine -= kStep * std::min(1.0, 2.0 / static_cast<double>(going.size() - reading()));
      } else if (!dozes) {
        mine -= kStep * moved / static_cast<double>(reading());
        io[id].first += kStep * moved / static_cast<double>(reading());
        io[id].second += kStep * 0.9;
      }
      if (mine <= 0) over.insert(id);
      look(id, started_at);
    }
    MachineSample sample;
    if (is_told)
      sample.io = PoolIo{.waited = reading() > 0 ? busy : idle, .bytes_per_second = moved};
    sample.cores_busy = cores_busy;
    samples(t, sample);
    for (const unsigned id : over) {
      going.erase(id);
      used.erase(id);
      governor.leave(job(id), {.outcome = Outcome::exited, .exit_code = 0}, at(t));
    }
    decide();
  }
  void look(unsigned id, double started_at) {
    const auto& [bytes, waited] = io[id];
    governor.observe(job(id),
                     {.ran = at(t) - at(started_at),
                      .used = mib(10),
                      .peak = mib(10),
                      .cpu = at(t) - at(started_at),
                      .io = Bytes{static_cast<std::uint64_t>(bytes)},
                      .io_wait = at(waited) - at(0)},
                     at(t));
    used[id] = 10;
  }
  void until(double then) {
    while (t < then - kStep / 2) {
      step();
      most = std::max(most, reading());
    }
  }
  // When all are done.
  double finish() {
    decide();
    while (!going.empty() || governor.waiting() > 0) {
      step();
      most = std::max(most, reading());
      if (t > 10'000) return t;
    }
    return t;
  }

  static constexpr double kStep = 0.1;
  static constexpr IoNeed kReads{.waited = 0.9, .bytes_per_second = 8 * kMega};
  static constexpr IoNeed kComputesOnly{.waited = 0.01, .bytes_per_second = 0.1 * kMega};
  Disk device;
  double t = 0;
  double seconds = 60;  // that a reader is expected to take
  double busy = 0.95;   // share of time that readers wait
  double idle = 0;
  std::optional<double> cores_busy{};
  bool is_told = true;
  bool dozes = false;  // the readers do something else
  std::map<unsigned, double> going, left;
  std::map<unsigned, std::pair<double, double>> io;
  std::vector<unsigned> admitted;
  std::size_t most = 0;
};

}  // namespace plimsoll::policy
