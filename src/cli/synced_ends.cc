#include "cli/synced_ends.h"

#include <utility>

namespace plimsoll::cli {

SyncedEnds::SyncedEnds(const loop::Loop& loop, EndsFile& file) : file_(file), worker_(loop) {}

void SyncedEnds::add(Tell tell) {
  waiting_.push_back(std::move(tell));
  if (waiting_.size() >= kSyncedEndsMax) wait_for_round();
  if (!round_) begin();
}

void SyncedEnds::finish() {
  while (round_) wait_for_round();
}

void SyncedEnds::begin() {
  if (waiting_.empty()) return;
  round_ = std::make_shared<Round>(Round{.tells = std::exchange(waiting_, {})});
  // A round that was waited for is gone when the loop comes to it.
  worker_.submit([this, round = round_] { round->forced = file_.force(); },
                 [this, weak = std::weak_ptr<Round>(round_)] {
                   if (!weak.expired()) settle();
                 });
}

void SyncedEnds::settle() {
  const std::shared_ptr<Round> round = std::exchange(round_, nullptr);
  if (!round->forced) {
    if (unforced_ == 0) file_.on_force_failed(round->forced.error());
    unforced_ += round->tells.size();
  }
  for (const Tell& tell : round->tells) tell();
  begin();
}

void SyncedEnds::wait_for_round() {
  if (!round_) return;
  worker_.drain();
  settle();
}

}  // namespace plimsoll::cli
