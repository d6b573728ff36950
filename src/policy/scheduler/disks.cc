#include "policy/scheduler/scheduler.h"

// What a look at the space of file systems leads to.
namespace plimsoll::policy {

void Scheduler::on_disks(const DiskSample& sample) {
  for (const DiskNews& news : governor_.observe(sample, now())) {
    tell(EventKind::alarm, news.writer, news.reason, news.numbers);
    if (listener_ != nullptr) listener_->on_disk_news(news);
  }
  turn();
}

}  // namespace plimsoll::policy
