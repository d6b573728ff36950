#pragma once

#include "policy/estimator/live_profile.h"
#include "policy/estimator/prior.h"

// What attempts that still run tell of others of their class, before any of them has ended.
namespace plimsoll::policy {

// What one of them has shown so far.
struct Showing {
  double weight = 0;        // 0..1: how far its peak is what it will come to
  double peak = 0;          // bytes
  double cores_weight = 0;  // 0..1: how far its cores are
  double cores = 0;         // that it wants
};
[[nodiscard]] Showing showing_of(const LiveProfile& live_profile);

// Whether `now` says something that `before` did not; that nothing is shown any more always does.
[[nodiscard]] bool is_news(const Showing& before, const Showing& now);

// How much the load of an attempt's first while tells of it, 0..1.
[[nodiscard]] double load_shown(Duration ran);

// What the running attempts of one class have shown together.
class Shows {
 public:
  // In place of what the same attempt had shown before; a Showing{} for one that begins or is over.
  void replace(const Showing& before, const Showing& now);
  // Nobody shows anything any more.
  [[nodiscard]] bool is_empty() const { return attempts_ == 0; }
  // So many whole attempts they are worth.
  [[nodiscard]] double weight() const { return weight_; }

  // What is believed of another of the class: the prior counts as one attempt among them, and so
  // does its doubt, as it is one doubt that all of a class share.
  [[nodiscard]] Prior correct(const Prior& prior) const;

 private:
  std::size_t attempts_ = 0;  // that show something
  double weight_ = 0, peak_ = 0, peak_square_ = 0;
  double cores_weight_ = 0, cores_ = 0;
};

}  // namespace plimsoll::policy
