#include "report/report.h"

namespace plimsoll::report {

std::string_view name_of(HostHierarchy hierarchy) {
  switch (hierarchy) {
    case HostHierarchy::v2: return "v2";
    case HostHierarchy::hybrid: return "hybrid";
    case HostHierarchy::v1: return "v1";
    case HostHierarchy::process: return "process";
  }
  return {};
}

}  // namespace plimsoll::report
