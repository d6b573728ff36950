#include "sim/order.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "sim/quantities.h"

namespace plimsoll::sim {
namespace {

// std::shuffle is another one in each standard library.
void shuffle(std::vector<std::size_t>& places, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t left = places.size(); left > 1; --left) {
    std::swap(places[left - 1], places[random() % left]);
  }
}

}  // namespace

std::vector<SimJob> in_order(std::vector<SimJob> jobs, Order order, std::uint64_t seed) {
  std::vector<std::size_t> places(jobs.size());  // where each new one was
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (order == Order::shuffle) shuffle(places, seed);
  if (order == Order::longest) {
    std::stable_sort(places.begin(), places.end(), [&jobs](std::size_t a, std::size_t b) {
      return jobs[a].curve.seconds() > jobs[b].curve.seconds();
    });
  }
  std::vector<JobId> renamed(jobs.size());
  for (std::size_t i = 0; i < places.size(); ++i) renamed[places[i]] = id_of(i);
  std::vector<SimJob> ordered;
  ordered.reserve(jobs.size());
  for (const std::size_t from : places) {
    SimJob& job = ordered.emplace_back(std::move(jobs[from]));
    job.spec.id = id_of(ordered.size() - 1);
    for (JobId& need : job.spec.needs) need = renamed[index_of(need)];
  }
  return ordered;
}

}  // namespace plimsoll::sim
