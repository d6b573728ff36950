#pragma once

#include <cstdint>
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

  // Not before the first attempt is learnt. Neither sets the basis; where the past knows nothing of
  // cores, one is taken.
  [[nodiscard]] Estimate unstarted(std::optional<Bytes> input);
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

  Record record_;
  std::optional<Summary> summary_;  // absent: there is news
};

}  // namespace plimsoll::policy
