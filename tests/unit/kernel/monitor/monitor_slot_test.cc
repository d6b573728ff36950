// A post is always held by the strongest that can, and whatever happens is told.

#include "kernel/monitor/monitor_slot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::monitor {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Monitors that fail when they are told to.
class Host : public SlotOwner {
 public:
  Candidate offers(const std::string& name) {
    return {.why = name,
            .make = [this, name](MonitorOwner& owner) -> Result<std::unique_ptr<Monitor>> {
              made_.push_back(name);
              if (lacks_ == name) return fail(std::errc::not_supported, "make " + name);
              owner_ = &owner;
              return std::make_unique<Fake>(*this);
            },
            .gap_max = name == "weak" ? 100ms : kGapMax};
  }
  void breaks() { owner_->failed({.code = std::errc::no_such_device, .what = "read it"}); }

  void wake() override {}
  void repair_soon() override { ++mends_; }

  std::string lacks_;
  std::vector<std::string> made_;
  int living_ = 0;
  int mends_ = 0;

 private:
  class Fake final : public Monitor {
   public:
    explicit Fake(Host& host) : host_(host) { ++host_.living_; }
    ~Fake() override { --host_.living_; }
    std::optional<Alarm> observe(const Reading&) override {
      return Alarm{.monitor = "event", .reason = "a look", .numbers = {}};
    }

   private:
    Host& host_;
  };
  MonitorOwner* owner_ = nullptr;
};

constexpr Instant kStart{1000s};

class PostTest : public testing::Test {
 protected:
  MonitorSlot post() {
    return {"event", {host_.offers("strong"), host_.offers("weak")}, "nobody can", host_};
  }
  Host host_;
};

TEST_F(PostTest, TheStrongestHoldsIt) {
  MonitorSlot post = this->post();
  EXPECT_EQ(post.status().why, "strong");
  EXPECT_EQ(post.status().health, "working");
  EXPECT_TRUE(post.is_held());
  EXPECT_THAT(host_.made_, ElementsAre("strong"));
  EXPECT_TRUE(post.observe({}));
}

TEST_F(PostTest, WhoeverRefusesIsPartOfWhy) {
  host_.lacks_ = "strong";
  const MonitorSlot post = this->post();
  EXPECT_EQ(post.status().why, "weak (could not make strong)");
  EXPECT_EQ(post.status().health, "working");
  EXPECT_EQ(post.gap_max(), 100ms);
}

TEST_F(PostTest, NobodyIsTold) {
  MonitorSlot post("event", {}, "nobody can", host_);
  EXPECT_FALSE(post.is_held());
  EXPECT_EQ(post.status().why, "nobody can");
  EXPECT_EQ(post.status().health, "missing");
  EXPECT_FALSE(post.status().works);
  EXPECT_FALSE(post.observe({}));
  EXPECT_EQ(post.gap_max(), kGapMax);
}

TEST_F(PostTest, AFailureAsksForMendingAndDestroysNothing) {
  MonitorSlot post = this->post();
  host_.breaks();
  host_.breaks();
  EXPECT_EQ(host_.mends_, 1);
  EXPECT_EQ(host_.living_, 1);
  EXPECT_FALSE(post.is_held());
  EXPECT_FALSE(post.observe({}));
}

TEST_F(PostTest, WhoFailsIsMadeOnceMore) {
  MonitorSlot post = this->post();
  EXPECT_FALSE(post.repair(kStart));
  host_.breaks();
  EXPECT_TRUE(post.repair(kStart));
  EXPECT_THAT(host_.made_, ElementsAre("strong", "strong"));
  EXPECT_THAT(post.status().health, StartsWith("restarted: read it: "));
  EXPECT_EQ(post.status().why, "strong");
  EXPECT_TRUE(post.status().works);
  EXPECT_EQ(host_.living_, 1);
}

TEST_F(PostTest, WhoFailsAgainSoonIsReplaced) {
  MonitorSlot post = this->post();
  host_.breaks();
  post.repair(kStart);
  host_.breaks();
  EXPECT_TRUE(post.repair(kStart + 1s));
  EXPECT_THAT(host_.made_, ElementsAre("strong", "strong", "weak"));
  EXPECT_THAT(post.status().health, StartsWith("replaced: read it: "));
  EXPECT_EQ(post.status().why, "weak");
}

TEST_F(PostTest, WhoFailsAgainMuchLaterIsRestartedAgain) {
  MonitorSlot post = this->post();
  host_.breaks();
  post.repair(kStart);
  host_.breaks();
  post.repair(kStart + kRestartGap);
  EXPECT_THAT(post.status().health, StartsWith("restarted: "));
}

TEST_F(PostTest, WhoCanNotBeMadeAgainIsReplacedAtOnce) {
  MonitorSlot post = this->post();
  host_.lacks_ = "strong";
  host_.breaks();
  post.repair(kStart);
  EXPECT_EQ(post.status().why, "weak");
  EXPECT_TRUE(post.is_held());
}

TEST_F(PostTest, WhenNobodyIsLeftItSaysSo) {
  MonitorSlot post = this->post();
  host_.lacks_ = "strong";
  host_.breaks();
  post.repair(kStart);
  host_.lacks_ = "weak";
  host_.breaks();
  post.repair(kStart + 1s);
  EXPECT_THAT(post.status().health, StartsWith("failed: read it: "));
  EXPECT_FALSE(post.status().works);
  EXPECT_FALSE(post.is_held());
  EXPECT_EQ(host_.living_, 0);
}

}  // namespace
}  // namespace plimsoll::monitor
