#include "record/report.h"

namespace plimsoll::record {

std::string_view name_of(HostHierarchy hierarchy) {
  switch (hierarchy) {
    case HostHierarchy::v2: return "v2";
    case HostHierarchy::hybrid: return "hybrid";
    case HostHierarchy::v1: return "v1";
    case HostHierarchy::process: return "process";
  }
  return {};
}

}  // namespace plimsoll::record
