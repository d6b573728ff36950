#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "supervisor/attempt.h"
#include "unit/supervisor/model_host.h"

// An attempt on a machine whose guardian, groups and time are the test's.
namespace plimsoll::supervisor::model {

// What an attempt has told, in order; its host's journal goes on beside it.
struct Told : AttemptObserver {
  explicit Told(Host& of) : host(of) {}
  void on_sampled(const counters::Sample& /*sample*/) override { ++samples; }
  void on_over(const policy::AttemptEnd& end) override {
    host.journal.push_back("told over: " + std::string(policy::name_of(end.outcome)));
  }
  void on_removed() override { host.journal.emplace_back("told removed"); }
  void on_gone(const AttemptResult& with) override {
    host.journal.emplace_back("told gone");
    result = with;
  }
  void on_stuck(const reap::Stuck& stuck) override {
    host.journal.push_back("told stuck: " + stuck.processes.front().comm);
  }

  Host& host;
  int samples = 0;
  std::optional<AttemptResult> result;
};

class AttemptScene : public testing::Test {
 protected:
  AttemptScene() {
    request_.group = "job-1";
    request_.spawn.argv = {"/bin/true"};
  }

  Attempt& make() {
    attempt_ = std::make_unique<Attempt>(host_, std::move(request_), told_);
    return *attempt_;
  }
  // Started, and its main process born.
  Attempt& run() {
    make().start();
    host_.set().born();
    host_.done();
    return *attempt_;
  }
  // As run(), of a process that somebody else has started.
  Attempt& adopt() {
    StandingPlace& standing = request_.standing.emplace(
        StandingPlace{.place = std::make_shared<StandingSet>(host_, "step-1"), .process = {}});
    standing.process.emplace(
        AdoptedProcess{.pid = 4711, .pidfd = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC))});
    make().start();
    return *attempt_;
  }
  // Nobody lives in it any more, and its group is removed.
  void vanish() {
    host_.set().empty();
    host_.set().gone();
  }
  const AttemptResult& result() { return *told_.result; }

  Host host_;
  Told told_{host_};
  AttemptRequest request_;
  std::unique_ptr<Attempt> attempt_;
};

}  // namespace plimsoll::supervisor::model
