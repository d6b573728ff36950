#pragma once

#include <string>

#include "report/report.h"

namespace plimsoll::daemon {

// Whom the daemon's services tell what others want to know. Called from within their calls, and
// must not call back. Of the loop's thread.
class Reporter {
 public:
  virtual ~Reporter() = default;
  // A line for people.
  virtual void notice(const std::string& text) = 0;
  // A job has ended for good.
  virtual void ended(const report::JobReport& report) = 0;
};

}  // namespace plimsoll::daemon
