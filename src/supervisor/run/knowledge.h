#pragma once

#include <functional>
#include <optional>
#include <string>

#include "policy/estimator/attempt_summary.h"
#include "policy/estimator/estimator.h"
#include "store/history/writer.h"

namespace plimsoll::supervisor {

// What is known of classes of jobs: read from the history at the start, and added to it. What goes
// wrong with the history is told, and costs nothing else.
class Knowledge {
 public:
  // `notice` is called from within the calls below.
  explicit Knowledge(std::function<void(const std::string&)> notice);

  // The history below this state directory, of these users, for kReadMax at most; what is learnt
  // goes there from then on. Once. Starts a thread: after the guardian has split off.
  void remember(const std::string& state_dir, const history::Whose& whose = history::kOfKeeper);

  [[nodiscard]] policy::Estimator& estimator() { return estimator_; }
  void learnt(const policy::AttemptSummary& attempt_summary);
  // What was learnt and is not stored, because the disk failed or did not keep up.
  [[nodiscard]] std::uint64_t dropped() const { return writer_ ? writer_->dropped() : 0; }
  // Waits for the disk.
  void finish();

  static constexpr Duration kReadMax = std::chrono::seconds(2);

 private:
  void pass_notices();

  std::function<void(const std::string&)> notice_;
  policy::Estimator estimator_;
  std::optional<history::Writer> writer_;
};

}  // namespace plimsoll::supervisor
