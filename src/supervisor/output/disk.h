#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "base/result.h"

namespace plimsoll::output {

// The directory for spools: $PLIMSOLL_TMPDIR if it is set, whatever it is on; else $TMPDIR unless
// that is on a tmpfs, whose memory the jobs need; else /var/tmp.
std::string default_spool_dir();

// Whether an error means that there is no room now and may be later: a full file system, a used-up
// quota, a file as large as it may become.
bool out_of_room(std::errc code);

// Writes from the front of `rest` to a place in a file and takes off `rest` what was written. After
// an error the remainder is still there, to be tried again.
struct Place {
  int fd;
  std::uint64_t offset;
};
Result<void> write_front(Place place, std::string_view& rest);

}  // namespace plimsoll::output
