#pragma once

#include "supervisor/attempt.h"
#include "supervisor/host_executor.h"
#include "supervisor/write_meter.h"

namespace plimsoll::supervisor {

// One attempt, from its start until all is known of it.
struct HostExecutor::AttemptRecord : AttemptObserver {
  AttemptRecord(HostExecutor& of, AttemptKey with, AttemptRequest request)
      : executor(of),
        key(with),
        span(of.system_.now()),
        attempt(of.host_, std::move(request), *this) {}

  void on_sampled(const counters::Sample& sample) override;
  void on_over(const policy::AttemptEnd& with) override { executor.on_over(*this, with); }
  void on_removed() override { executor.on_removed(*this); }
  void on_gone(const AttemptResult& result) override { executor.on_gone(*this, result); }
  void on_stuck(const reap::Stuck& stuck) override {
    executor.jobs_.at(key.job).owner->on_stuck(key, stuck);
  }

  HostExecutor& executor;
  AttemptKey key;
  counters::MachineSpan span;  // of what the whole machine did meanwhile
  bool is_over = false;
  policy::AttemptEnd end;  // if it is
  WriteMeter write_meter;
  std::optional<Bytes> written;  // the most that a look has told
  Attempt attempt;
};

}  // namespace plimsoll::supervisor
