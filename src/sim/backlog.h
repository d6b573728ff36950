#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "sim/curves.h"

namespace plimsoll::sim {

// The jobs that a baseline has not started yet, in the order in which it takes them: higher
// priority first, then as `By` says, ties as they came; a job shows up when all that it needs has
// ended well.
class Backlog {
 public:
  enum class By : std::uint8_t {
    input,         // as they came
    length,        // the longest curve first
    class_length,  // the class first whose curves are the longest on average
  };

  // `jobs` must outlive this.
  Backlog(std::span<const SimJob> jobs, By by);

  [[nodiscard]] bool empty() const { return ready_.empty(); }
  [[nodiscard]] const std::deque<std::size_t>& ready() const { return ready_; }
  // The first of them; there is one.
  std::size_t take();
  // The one at this place of ready().
  std::size_t take_at(std::size_t place);
  // A job that was started comes back, before all others.
  void put_back(std::size_t job) { ready_.push_front(job); }
  // A job ended well.
  void done(std::size_t job);

 private:
  [[nodiscard]] bool before(std::size_t a, std::size_t b) const;

  std::span<const SimJob> jobs_;
  std::vector<double> seconds_;  // by which a job comes before others
  std::vector<std::size_t> needs_left_;
  std::vector<std::vector<std::size_t>> dependents_;
  std::deque<std::size_t> ready_;
};

}  // namespace plimsoll::sim
