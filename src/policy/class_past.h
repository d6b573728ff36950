#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/units.h"
#include "policy/estimate.h"
#include "policy/forecast.h"
#include "policy/line_fit.h"
#include "policy/record.h"

namespace plimsoll::policy {

// The past of a class, or of a tool, with what was worked out of it; worked out when first asked
// for after news.
class ClassPast {
 public:
  void learn(const Experience& experience);

  // A running attempt has shown so much. While hardly any attempt is over, those that run stand in
  // for them: what they had reached is the least that the next will need. Gives whether that is
  // news.
  bool watch(JobId job, const Track& track);
  // It runs no more.
  void unwatch(JobId job);

  // Whether any attempt is known, be it a running one; without one, nothing below may be asked.
  [[nodiscard]] bool knows() const { return !record_.runs().empty() || !watched_.empty(); }

  // Neither sets the basis; where the past knows nothing of cores,
  // one is taken.
  [[nodiscard]] Estimate unstarted(std::optional<Bytes> input);
  // By attempts that are over alone: a likelihood of 0 if there is none.
  [[nodiscard]] Forecast running(std::optional<Bytes> input, const Track& track);

  // Attempts that are over, ever; and those of them that are remembered.
  [[nodiscard]] std::uint32_t attempts() const { return record_.attempts(); }
  [[nodiscard]] double runs() const { return static_cast<double>(record_.runs().size()); }

 private:
  // What is the same for all attempts to come.
  struct Summary {
    std::optional<LineFit> peak;     // only if the input explains it
    std::optional<LineFit> seconds;  // likewise
    Estimate unstarted;
  };
  const Summary& summary();
  // The attempts that are over, and those that run if they stand in.
  [[nodiscard]] Record known() const;

  Record record_;
  std::map<JobId, Track> watched_;
  std::optional<Summary> summary_;  // absent: there is news
};

}  // namespace plimsoll::policy
