#pragma once

#include <cstdint>
#include <memory>

#include "supervisor/output/attempt.h"

namespace plimsoll::output {

// In which order the output of different jobs is printed.
enum class Order : std::uint8_t {
  group,    // a job when it is over, in the order in which they end
  line,     // lines as they come
  ordered,  // a job after the one before it in the input; the one whose turn it is while it runs
};

// Whose attempts are borrowed.
class PrintOrderOwner {
 public:
  PrintOrderOwner() = default;
  PrintOrderOwner(const PrintOrderOwner&) = delete;
  PrintOrderOwner& operator=(const PrintOrderOwner&) = delete;
  virtual ~PrintOrderOwner() = default;
  // Nothing of it is left to print.
  virtual void retire(Attempt& attempt) = 0;
};

// Decides whose output is printed next. Attempts are borrowed; each is retired when nothing of it
// is left to print, and is not touched afterwards.
class PrintOrder {
 public:
  PrintOrder() = default;
  PrintOrder(const PrintOrder&) = delete;
  PrintOrder& operator=(const PrintOrder&) = delete;
  virtual ~PrintOrder() = default;

  // An attempt begins.
  virtual void opened(Attempt& attempt) = 0;
  // More of it can be printed than before.
  virtual void arrived(Channel& channel) = 0;
  // Nothing more will arrive: its state is `over`. May retire it at once.
  virtual void over(Attempt& attempt) = 0;
  // This job will have no further attempt, and the kept one, if any, is over.
  virtual void passed(JobId job) = 0;
  // No job will be opened any more that is not yet.
  virtual void last() = 0;

  // Whose output to print next; nothing for now. Asked again when that has been composed.
  virtual Channel* next() = 0;

  // Whether its output is printed while it runs. Then what waits to be printed is bounded.
  [[nodiscard]] virtual bool live(const Attempt& attempt) const = 0;
};

// `owner` must outlive it. `jobs` as in Config.
std::unique_ptr<PrintOrder> make_print_order(Order order, PrintOrderOwner& owner,
                                             std::vector<JobId> jobs);

}  // namespace plimsoll::output
