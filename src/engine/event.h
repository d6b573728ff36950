#pragma once

#include "policy/event.h"

namespace plimsoll::engine {

using policy::Event;
using policy::EventKind;
using policy::name_of;

}  // namespace plimsoll::engine
