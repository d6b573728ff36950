#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "governor_story.h"
#include "policy/governor/disk_space.h"

namespace plimsoll::policy {

// Plenty of memory and cores, and a file system of which 100 MiB are to stay free.
struct OnADisk : Story {
  explicit OnADisk(DiskRule rule = DiskRule::hold, bool may_pause = true)
      : Story({.line = mib(10'000),
               .cores = 100,
               .jobs_max = 100,
               .may_pause = may_pause,
               .disks = {{.path = "/data", .floor = mib(100), .rule = rule}}}) {}

  // A job that is known to write so much.
  void writer(unsigned id, double mib_written, double cores = 1) {
    Estimate estimate = flat({.mib = 1, .seconds = 1000, .cores = cores});
    estimate.written = Belief{mib_written * 1048576, 0};
    enters_with(id, estimate);
  }
  // The same of a user's.
  void writer_of(Tenant tenant, unsigned id, double mib_written, double t = 0) {
    Estimate estimate = flat({.mib = 1, .seconds = 1000});
    estimate.written = Belief{mib_written * 1048576, 0};
    enters_with(id, estimate, tenant, t);
  }
  // One of which nothing is known.
  void stranger(unsigned id, unsigned kind, Tenant tenant = kHost) {
    governor.expect(Kind{kind}, flat({.mib = 1, .seconds = 1000}));
    enters({.job = JobId{id}, .kind = Kind{kind}, .tenant = tenant});
    estimates[id] = flat({.mib = 1, .seconds = 1000});
  }
  // From 0 s on, when 1000 MiB are free.
  void two_strangers_run() {
    static_cast<void>(is_free(1000, 0));
    for (unsigned id = 1; id <= 2; ++id) stranger(id, 1);
    EXPECT_THAT(rules(0), ::testing::ElementsAre("admit 1", "admit 2"));
  }
  void enters_with(unsigned id, const Estimate& estimate, Tenant tenant = kHost, double t = 0) {
    governor.expect(Kind{id}, estimate);
    enters({.job = JobId{id}, .kind = Kind{id}, .tenant = tenant}, t);
    estimates[id] = estimate;
  }
  // The user has said so of the job.
  void hinted(unsigned id, double mib_written, Tenant tenant = kHost) {
    Estimate estimate = flat({.mib = 1, .seconds = 1000});
    estimate.written = Belief{mib_written * 1048576, 0};
    estimate.is_written_told = true;
    enters_with(id, estimate, tenant);
  }

  std::vector<DiskNews> is_free(double mib_free, double t) {
    return governor.observe(DiskSample{.free = {mib(mib_free)}}, at(t));
  }
  void has_written(unsigned id, double mib_written, double t) {
    governor.observe(
        job(id),
        {.ran = at(t) - at(0), .used = mib(1), .peak = mib(1), .written = mib(mib_written)}, at(t));
    governor.expect(job(id), estimates.at(id), at(t));
  }
  [[nodiscard]] HoldCause cause() const { return governor.holding()->cause; }
  [[nodiscard]] const std::string& why() const { return governor.holding()->reason; }
};

}  // namespace plimsoll::policy
