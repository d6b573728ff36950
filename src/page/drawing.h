#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "page/record.h"

// What of a run is drawn, and where: for the page, which is told it, and for pictures alike.
namespace plimsoll::page {

struct DrawnPause {
  Duration start{}, end{};
  std::size_t event = 0;  // of Record::events: that which says why
};

struct DrawnAttempt {
  std::size_t job = 0, index = 0;  // of Record::jobs and its attempts
  Duration start{}, end{};         // of one that has not ended: the end of what is known
  std::size_t lane = 0;
  std::vector<DrawnPause> pauses{};
  bool is_bad = false;  // it was evicted, or ended otherwise than with success
  bool is_evicted = false;
};

struct Drawing {
  Duration end{};                        // of all that is known of the run
  std::size_t lanes = 0;                 // so many attempts at most went on at once
  std::vector<DrawnAttempt> attempts{};  // by their start
  std::vector<std::string> classes{};    // heaviest first, by memory x time
};

[[nodiscard]] Drawing drawing_of(const Record& record);

// Of the class at this place in Drawing::classes.
[[nodiscard]] std::string_view colour_of(std::size_t place);

}  // namespace plimsoll::page
