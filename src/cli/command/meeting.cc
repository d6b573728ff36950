#include "cli/command/meeting.h"

#include <string>

namespace plimsoll::cli {

void tell_missed(const Meeting& meeting, Notices& notices) {
  const std::string ledger = meeting.ledger ? "" : meeting.ledger.error().message();
  const std::string control = meeting.control ? "" : meeting.control.error().message();
  if (!meeting.ledger && !meeting.control && ledger == control) {
    return notices.note(
        "the line is not shared with other runs, and `plimsoll ctl` cannot control this run: " +
        ledger);
  }
  if (!meeting.ledger) notices.note("the line is not shared: " + ledger);
  if (!meeting.control) notices.note("`plimsoll ctl` cannot control this run: " + control);
}

}  // namespace plimsoll::cli
