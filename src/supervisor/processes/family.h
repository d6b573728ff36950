#pragma once

#include <string>
#include <utility>

#include "supervisor/processes/families.h"

namespace plimsoll::supervisor {

// One family of a run in process mode, for as long as somebody refers to it. Whoever is left in it
// then is a stray.
class Family {
 public:
  // `families` must outlive this. `job` names it within the run.
  Family(Families& families, std::string job, Families::Counts counts = Families::Counts::in_pool)
      : families_(families), job_(std::move(job)), id_(families.begin(job_, counts)) {}
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family() { families_.end(id_); }

  [[nodiscard]] Families& all() const { return families_; }
  [[nodiscard]] const std::string& job() const { return job_; }
  [[nodiscard]] procfs::FamilyId id() const { return id_; }
  // As of the last look.
  [[nodiscard]] bool is_populated() const {
    return families_.process_scanner().membership().is_populated(id_);
  }

  // Nobody stops who lives in it any more (Place::exempt()).
  void exempt() { is_exempt_ = true; }
  [[nodiscard]] bool is_exempt() const { return is_exempt_; }

 private:
  Families& families_;
  std::string job_;
  procfs::FamilyId id_;
  bool is_exempt_ = false;
};

}  // namespace plimsoll::supervisor
