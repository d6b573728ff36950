#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <vector>

namespace plimsoll::bench {

// Exhaustive bucketing, as TaskVine has it (Phung et al., "Adaptive Task-Oriented Resource
// Allocation for Large Dynamic Workflows on Opportunistic Resources", 2024): the peaks of a class
// are parted into one to ten buckets at equal steps of the most that was seen, and the parting is
// taken that is expected to waste least. A task gets the top of a bucket that is drawn by how much
// what is in it counts; newer tasks count more. One that outgrows it draws among those above.
class ExhaustiveBuckets {
 public:
  void learn(double peak);

  // At least one peak is known.
  [[nodiscard]] double choose(std::mt19937_64& chance) const;
  // Nothing: no bucket is above.
  [[nodiscard]] std::optional<double> choose_above(double failed, std::mt19937_64& chance) const;

 private:
  struct Seen {
    double peak = 0;
    double weight = 0;
  };
  struct Bucket {
    double top = 0;
    double mean = 0;
    double weight = 0;
  };
  [[nodiscard]] std::vector<Bucket> parted(std::size_t count) const;
  [[nodiscard]] static double waste(const std::vector<Bucket>& buckets);
  [[nodiscard]] static double draw(const std::vector<Bucket>& buckets, std::size_t from,
                                   std::mt19937_64& chance);

  std::vector<Seen> seen_;  // by peak
  std::vector<Bucket> buckets_;
  std::size_t tasks_ = 0;
};

}  // namespace plimsoll::bench
