#include "supervisor/run/pool_terms.h"

#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;

const PoolFacts kMachine{.total = 24_GiB, .capacity = 24_GiB, .cpus = 4, .descriptors = 20'000};

policy::GovernorConfig governor_of(Bytes line, double cores, unsigned jobs_max) {
  policy::GovernorConfig governor;
  governor.line = line;
  governor.reserve = 1_GiB;
  governor.cores = cores;
  governor.jobs_max = jobs_max;
  return governor;
}

TEST(PoolTerms, SayWhereEachComesFrom) {
  EXPECT_EQ(
      terms_text(pool_terms({}, governor_of(23_GiB, 4, 396), kMachine)),
      "  line      23.0 GiB: the 24.0 GiB of the machine, less the reserve\n"
      "  reserve   1.00 GiB: left free for everything else on the machine\n"
      "  cores     4: all that Plimsoll may run on\n"
      "  jobs      at most 396 at once: a limit of 20000 open files, of which each job needs 50 "
      "(ulimit -Hn)\n");
}

TEST(PoolTerms, OfOptions) {
  PoolOptions options;
  options.line = Bytes{2_GiB};
  options.reserve = Bytes{1_GiB};
  options.cores = 1.5;
  options.jobs_max = 7;
  EXPECT_EQ(terms_text(pool_terms(options, governor_of(2_GiB, 1.5, 7), kMachine)),
            "  line      2.00 GiB: as --line says\n"
            "  reserve   1.00 GiB: as --reserve says\n"
            "  cores     1.5: as --cores says\n"
            "  jobs      at most 7 at once: as --jobs says\n");
}

TEST(PoolTerms, OfLimitsAroundUs) {
  PoolFacts facts = kMachine;
  facts.capacity = 4_GiB;
  facts.descriptors.reset();
  EXPECT_EQ(terms_text(pool_terms({}, governor_of(3_GiB, 2, 1000), facts)),
            "  line      3.00 GiB: the 4.00 GiB that the limits of Plimsoll's own cgroups leave, "
            "less the reserve\n"
            "  reserve   1.00 GiB: left free for everything else on the machine\n"
            "  cores     2: a CPU quota of Plimsoll's own cgroups\n"
            "  jobs      at most 1000 at once: the default limit; --jobs sets another\n");
}

}  // namespace
}  // namespace plimsoll::supervisor
