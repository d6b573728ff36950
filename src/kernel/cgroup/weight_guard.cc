#include "kernel/cgroup/weight_guard.h"

#include <utility>

#include "kernel/cgroup/limits.h"

namespace plimsoll::cgroup {

WeightGuard::WeightGuard(const Group& group, unsigned weight) {
  for (const char* file : {"cpu.weight", "cpu.shares"}) note(group, Controller::cpu, file);
  for (const char* file : {"io.weight", "io.bfq.weight", "blkio.bfq.weight", "blkio.weight"}) {
    note(group, Controller::io, file);
  }
  Limits limits;
  limits.weight = weight;
  weigh(group, limits);
  std::erase_if(places_, [](Place& place) {
    auto now = place.directory.read(place.file);
    if (now) place.set = std::move(*now);
    return !now || place.set == place.before;
  });
}

void WeightGuard::note(const Group& group, Controller controller, const char* file) {
  const Directory* directory = group.of(controller);
  if (directory == nullptr || !directory->has_file(file)) return;
  auto own = directory->clone();
  auto before = directory->read(file);
  if (own && before) places_.push_back({std::move(*own), file, std::move(*before)});
}

// A group that is gone, or may not be written any more, has nobody to tell.
WeightGuard::~WeightGuard() {
  for (const Place& place : places_) {
    const auto now = place.directory.read(place.file);
    if (!now || *now != place.set) continue;
    [[maybe_unused]] const auto put_back = place.directory.write(place.file, place.before);
  }
}

}  // namespace plimsoll::cgroup
