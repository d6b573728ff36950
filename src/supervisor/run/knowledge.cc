#include "supervisor/run/knowledge.h"

#include "base/loop/loop.h"
#include "store/history/state_dir.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::supervisor {

Knowledge::Knowledge(std::function<void(const std::string&)> notice) : notice_(std::move(notice)) {}

void Knowledge::remember(const std::string& state_dir, const history::Whose& whose) {
  auto opened = history::Store::open(history::history_path(state_dir), wall_now());
  if (!opened)
    return notice_("this run continues without the history: " + opened.error().message());
  if (opened->notice) notice_(*opened->notice);
  const auto loaded = opened->store.load(loop::now() + kReadMax, &loop::now, whose);
  if (const auto told = opened->store.take_notice()) notice_(*told);
  if (loaded) {
    for (const history::Entry& entry : loaded->entries) estimator_.learn(entry.attempt_summary);
  } else {
    notice_("the history can't be read: " + loaded.error().message());
  }
  writer_.emplace(std::move(opened->store));
}

void Knowledge::learnt(const policy::AttemptSummary& attempt_summary) {
  if (writer_) writer_->add(attempt_summary, wall_now());
  pass_notices();
}

void Knowledge::finish() {
  if (writer_) writer_->finish();
  pass_notices();
}

void Knowledge::pass_notices() {
  if (!writer_) return;
  while (const auto told = writer_->take_notice()) notice_(*told);
}

}  // namespace plimsoll::supervisor
