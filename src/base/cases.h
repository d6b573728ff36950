#pragma once

namespace plimsoll {

// One callable of several, for std::visit: Cases{[](const A&) {...}, [](const B&) {...}}.
template <class... Case>
struct Cases : Case... {
  using Case::operator()...;
};

}  // namespace plimsoll
