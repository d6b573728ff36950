#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "jobfile/columns.h"
#include "jobfile/sources.h"

namespace plimsoll::jobfile {

// A source with its values.
struct Source {
  Joining joining = Joining::crossed;
  std::vector<Row> rows;
};

// Every way to take one row of each source: crossed sources each with each, the last varying
// fastest; linked ones in step with the source before, as far as the shortest of them reaches.
// Made one at a time, so a number of any size costs nothing.
class Combinations {
 public:
  // The first source is crossed. An error where there are more than 64 bits can count.
  [[nodiscard]] static Result<Combinations> of(std::vector<Source> sources);

  // 0 where a source is empty, or there is none.
  [[nodiscard]] std::uint64_t count() const { return count_; }

  // The values of combination `index`, below count(), in the order of the sources.
  [[nodiscard]] Row at(std::uint64_t index) const;

 private:
  // Sources that are linked: they advance together.
  struct Group {
    std::vector<std::vector<Row>> members;
    std::uint64_t length = 0;  // of the shortest
  };

  std::vector<Group> groups_;
  std::uint64_t count_ = 0;  // product of the lengths
};

}  // namespace plimsoll::jobfile
