#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "policy/estimator/estimate.h"
#include "policy/estimator/forecast.h"
#include "policy/estimator/past_attempt.h"
#include "policy/estimator/trend.h"

namespace plimsoll::policy {

// Which sizes explain what jobs of a class take.
struct Trends {
  std::optional<Trend> peak;
  std::optional<Trend> seconds;
};

// How much of a past is looked at.
struct PastDepth {
  std::size_t runs = 0;  // at most
  double doubt = 0;      // how far a single attempt may mislead, as a share
};

// The past of a class, of a tool, or of a command, with what was worked out of it; worked out when
// first asked for after news.
class ClassPast {
 public:
  explicit ClassPast(const PastDepth& depth) : depth_(depth), record_(depth.runs) {}
  void learn(const AttemptSummary& attempt_summary);

  // Not before the first attempt is learnt. None sets the basis; where the past knows nothing of
  // cores, one is taken.
  [[nodiscard]] Estimate unstarted(const Sizes& sizes);
  [[nodiscard]] Forecast running(const Sizes& sizes, const LiveProfile& live_profile);
  [[nodiscard]] const Trends& trends() { return summary().trends; }

  // The same of a command, whose own attempts are all of about one size: how it does with another
  // is seen from its class.
  [[nodiscard]] Estimate unstarted(const Sizes& sizes, const Trends& of_class);
  [[nodiscard]] Forecast running(const Sizes& sizes, const Trends& of_class,
                                 const LiveProfile& live_profile);

  // Attempts that are over, ever; and those of them that are remembered.
  [[nodiscard]] std::uint32_t attempts() const { return record_.attempts(); }
  [[nodiscard]] double runs() const { return static_cast<double>(record_.runs().size()); }

 private:
  // What is the same for all attempts to come.
  struct Summary {
    Trends trends;
    Estimate unstarted;
  };
  const Summary& summary();

  PastDepth depth_;
  PastAttempt record_;
  std::optional<Summary> summary_;  // absent: there is news
};

}  // namespace plimsoll::policy
