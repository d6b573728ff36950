#pragma once

#include <rapidcheck.h>
#include <sys/mman.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "guardian/spawn_request.h"

namespace plimsoll::guardian::testing {

// Some open files that are told apart by their inodes.
class OpenFiles {
 public:
  explicit OpenFiles(std::size_t count) {
    while (files_.size() < count) {
      files_.emplace_back(::memfd_create("test", MFD_CLOEXEC));
      PLIMSOLL_CHECK(static_cast<bool>(files_.back()));
    }
  }
  [[nodiscard]] int operator[](std::size_t i) const { return files_[i].get(); }

 private:
  std::vector<UniqueFd> files_;
};

// Any text that a word of a command may be: every byte but NUL.
inline rc::Gen<std::string> words() {
  return rc::gen::container<std::string>(rc::gen::nonZero<char>());
}

// Any request with a command; of the files, the first three are its stdio, the third is its
// socket for a listener as well, the next its group, and the last stands for all further groups.
inline rc::Gen<SpawnRequest> requests(const OpenFiles& files) {
  return rc::gen::exec([&files] {
    SpawnRequest request;
    request.id = ChildId{*rc::gen::arbitrary<std::uint64_t>()};
    request.argv = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(words()));
    request.plain = *rc::gen::container<std::vector<std::string>>(words());
    request.env = *rc::gen::container<std::vector<std::string>>(words());
    request.executable = *words();
    request.root = *words();
    request.cwd = *words();
    request.session = *rc::gen::element(Session::shared, Session::own);
    request.descriptors = *rc::gen::element(Descriptors::inherit, Descriptors::close);
    request.signals = *rc::gen::element(Signals::inherit, Signals::set_default);
    request.guardian_death = *rc::gen::element(GuardianDeath::outlive, GuardianDeath::end);
    if (*rc::gen::arbitrary<bool>()) {
      request.identity = Identity{*rc::gen::arbitrary<uid_t>(), *rc::gen::arbitrary<gid_t>(),
                                  *rc::gen::arbitrary<std::vector<gid_t>>()};
    }
    const auto limits = *rc::gen::inRange(0, 4);
    for (int i = 0; i < limits; ++i) {
      request.rlimits.push_back({*rc::gen::inRange(0, 16),
                                 {*rc::gen::arbitrary<rlim_t>(), *rc::gen::arbitrary<rlim_t>()}});
    }
    if (*rc::gen::arbitrary<bool>()) request.umask = *rc::gen::arbitrary<mode_t>();
    for (std::size_t i = 0; i < request.stdio.size(); ++i) {
      if (*rc::gen::arbitrary<bool>()) request.stdio[i] = files[i];
    }
    if (*rc::gen::arbitrary<bool>()) request.v2_group = files[3];
    if (*rc::gen::arbitrary<bool>()) request.exec_listener = files[2];
    const auto groups = *rc::gen::inRange(0, 5);
    for (int i = 0; i < groups; ++i) request.v1_entrances.push_back(files[4]);
    return request;
  });
}

}  // namespace plimsoll::guardian::testing
