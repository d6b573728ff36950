#include "daemon/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "daemon/settings.h"

namespace plimsoll::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct ConfigTest : ::testing::Test {
  Result<LoadedConfig> read(std::string_view text) {
    return read_config({.options = options,
                        .environment = [this](std::string_view name) -> std::optional<std::string> {
                          const auto found = variables.find(std::string(name));
                          if (found == variables.end()) return std::nullopt;
                          return found->second;
                        },
                        .file = {}},
                       text, "p.toml");
  }

  // Of what must be refused.
  std::string error_of(std::string_view text) {
    const auto read_config = read(text);
    return read_config ? "no error" : read_config.error().message();
  }

  std::string origin_of(const LoadedConfig& loaded, std::string_view key) {
    for (const Effective& value : loaded.values) {
      if (value.key == key) return value.origin;
    }
    return "no such value";
  }

  std::vector<OptionValue> options;
  std::map<std::string, std::string> variables = {{"PLIMSOLL_SOCKET", "/run/test.sock"}};
};

TEST_F(ConfigTest, ReadsEverySetting) {
  const auto loaded = read(R"(
[governor]
line = "80%"
reserve = 1073741824
cores = 7.5
jobs = 12
may_evict = false
may_pause = true
cgroup = "/builds"
[listen]
socket = "/s"
group = "build"
tcp = "[::1]:8980"
tls_certificate = "/c.pem"
tls_key = "/k.pem"
tls_client_ca = "/ca.pem"
[metrics]
listen = "off"
[runner]
config = "/r.jsonnet"
[records]
directory = "/var/p"
)");
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Config& config = loaded->config;
  EXPECT_EQ(std::get<supervisor::Percent>(*config.governor.line).value, 80);
  EXPECT_EQ(std::get<Bytes>(*config.governor.reserve), Bytes{1ull << 30});
  EXPECT_EQ(config.governor.cores, 7.5);
  EXPECT_EQ(config.governor.jobs_max, 12u);
  EXPECT_TRUE(config.governor.no_evict);
  EXPECT_FALSE(config.governor.no_pause);
  EXPECT_EQ(config.cgroup, "/builds");
  EXPECT_EQ(config.listen.socket, "/run/test.sock");  // the environment goes before
  EXPECT_EQ(config.listen.group, "build");
  EXPECT_EQ(config.listen.tcp, (Address{.host = "::1", .port = 8980}));
  EXPECT_EQ(config.listen.tls_client_ca, "/ca.pem");
  EXPECT_TRUE(config.metrics.is_off());
  EXPECT_EQ(config.runner_config, "/r.jsonnet");
  EXPECT_EQ(config.state_dir, "/var/p");
  EXPECT_EQ(config.governor.line_name, "p.toml:3: governor.line");
}

TEST_F(ConfigTest, TheNearestSourceIsRight) {
  variables["PLIMSOLL_CGROUP"] = "/env";
  options = {{.key = "governor.line", .text = "2G"}, {.key = "listen.socket", .text = "/opt.sock"}};
  const auto loaded = read("governor.line = \"1G\"\ngovernor.cgroup = \"/file\"\n");
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(std::get<Bytes>(*loaded->config.governor.line), Bytes{2ull << 30});
  EXPECT_EQ(loaded->config.cgroup, "/env");
  EXPECT_EQ(loaded->config.listen.socket, "/opt.sock");
  EXPECT_EQ(origin_of(*loaded, "governor.line"), "--line");
  EXPECT_EQ(origin_of(*loaded, "governor.cgroup"), "PLIMSOLL_CGROUP");
  EXPECT_EQ(origin_of(*loaded, "governor.jobs"), "default");
}

TEST_F(ConfigTest, MetricsAreAtAPortOrAtASocket) {
  const auto port = read("");
  ASSERT_TRUE(port);
  EXPECT_EQ(port->config.metrics.address, (Address{.host = "127.0.0.1", .port = 9755}));
  EXPECT_FALSE(port->config.metrics.socket);
  const auto socket = read(
      "[metrics]\nlisten = \"unix:/run/m.sock\"\nmode = \"660\"\nnames = \"build1  b.example\"\n");
  ASSERT_TRUE(socket) << socket.error().message();
  EXPECT_FALSE(socket->config.metrics.address);
  EXPECT_EQ(socket->config.metrics.socket, "/run/m.sock");
  EXPECT_EQ(socket->config.metrics.socket_mode, mode_t{0660});
  EXPECT_EQ(socket->config.metrics.names, (std::vector<std::string>{"build1", "b.example"}));
}

TEST_F(ConfigTest, ClassesHaveCaps) {
  const auto loaded = read("governor.caps = \"ld=2, samtools sort=4,a=b=1\"\n");
  ASSERT_TRUE(loaded) << loaded.error().message();
  const std::map<std::string, unsigned> caps = {{"ld", 2}, {"samtools sort", 4}, {"a=b", 1}};
  EXPECT_EQ(loaded->config.governor.caps, caps);
  const auto wrong = read("governor.caps = \"ld=2,db\"\n");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(),
            "p.toml:1: governor.caps: found \"db\", expected CLASS=N with N from 1 to 1000000");
}

TEST_F(ConfigTest, FileSystemsHaveFloors) {
  EXPECT_TRUE(read("")->config.governor.disks.empty());
  const auto loaded = read("[governor]\ndisks = \"/scratch=2G, /a b=c=5%\"\n");
  ASSERT_TRUE(loaded) << loaded.error().message();
  const auto& disks = loaded->config.governor.disks;
  ASSERT_EQ(disks.size(), 2u);
  EXPECT_EQ(disks[0].path, "/scratch");
  EXPECT_EQ(std::get<Bytes>(disks[0].floor), Bytes{2ull << 30});
  EXPECT_EQ(disks[1].path, "/a b=c");
  EXPECT_EQ(std::get<supervisor::Percent>(disks[1].floor).value, 5);
  EXPECT_EQ(loaded->config.governor.disks_name, "p.toml:2: governor.disks");
  EXPECT_THAT(show(*loaded), HasSubstr("disks = \"/scratch=2G, /a b=c=5%\""));
  EXPECT_EQ(error_of("governor.disks = \"/a=1G,scratch=2G\"\n"),
            "p.toml:1: governor.disks: found \"scratch=2G\", expected an absolute path");
  EXPECT_EQ(error_of("governor.disks = \"/a\"\n"),
            "p.toml:1: governor.disks: found \"/a\", expected PATH=FLOOR, such as /tmp=2G or "
            "/tmp=5%");
}

TEST_F(ConfigTest, AnotherFloorNeedsARestart) {
  const auto now = read("governor.disks = \"/a=1G\"\n");
  const auto next = read("governor.disks = \"/a=2G\"\n");
  ASSERT_TRUE(now && next);
  const auto changed = changes(*now, *next);
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed.front().after.key, "governor.disks");
  EXPECT_EQ(changed.front().after.effect, Effect::at_restart);
}

TEST_F(ConfigTest, AnEmptyVariableIsNotSet) {
  variables["PLIMSOLL_CGROUP"] = "";
  const auto loaded = read("governor.cgroup = \"/file\"\n");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config.cgroup, "/file");
}

TEST_F(ConfigTest, MistakesNameFileLineFoundAndExpected) {
  const std::map<std::string, std::string> cases = {
      {"[governor]\nlines = 3\n",
       "p.toml:2: found the unknown key \"governor.lines\", expected perhaps \"governor.line\""},
      {"[gvernor]\njobs = 3\n",
       "p.toml:2: found the unknown key \"gvernor.jobs\", expected perhaps \"governor.jobs\""},
      {"\n\n[governor]\njobs = \"3\"\n",
       "p.toml:4: governor.jobs: found text, expected a whole number"},
      {"governor.jobs = 0\n",
       "p.toml:1: governor.jobs: found \"0\", expected a number from 1 to 1000000"},
      {"governor.jobs = [1]\n", "p.toml:1: governor.jobs: found a list, expected a whole number"},
      {"governor.line = \"lots\"\n", "p.toml:1: governor.line: found \"lots\", expected "},
      {"governor.line = 0.5\n",
       "p.toml:1: governor.line: found a number, expected text in quotes, or a number of bytes"},
      {"governor.may_evict = \"no\"\n",
       "p.toml:1: governor.may_evict: found text, expected true or false"},
      {"governor = 3\n", "p.toml:1: found the unknown key \"governor\", expected "},
      {"runner.config = \"r.json\"\n",
       "p.toml:1: runner.config: found \"r.json\", expected an absolute path"},
      {"metrics.listen = \"nine\"\n",
       "p.toml:1: metrics.listen: found \"nine\", expected HOST:PORT, unix:/PATH, or off"},
      {"metrics.listen = \"unix:run/m\"\n",
       "p.toml:1: metrics.listen: found \"run/m\", expected an absolute path"},
      {"metrics.mode = \"0880\"\n",
       "p.toml:1: metrics.mode: found \"0880\", expected a mode in octal digits such as 0660"},
      {"metrics.mode = \"1777\"\n", "p.toml:1: metrics.mode: found \"1777\", expected a mode"},
      {"listen.tcp = \"h:1\"\nlisten.tls_key = \"/k\"\n",
       "p.toml:1: listen.tcp: found no listen.tls_certificate, expected all of"},
      {"\nlisten.tls_key = \"/k\"\n",
       "p.toml:2: listen.tls_key: found no listen.tcp, expected both or neither"},
      {"a = \n", "p.toml:1: "},
      {"# \xC3\xA9\n'\xC3\xA9'\xC3\xA9 = 1\n", "p.toml:2: "},
      {"[governor]\njobs = 1\njobs = 2\n", "p.toml:3: "},
      {"governor.jobs = 99999999999999999999999\n", "p.toml:1: "},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(error_of(text), HasSubstr(message)) << text;
}

TEST_F(ConfigTest, TheFirstUnknownLineIsTold) {
  EXPECT_THAT(error_of("[z]\nb = 1\n[a]\nc = 2\n"), HasSubstr("p.toml:2: "));
}

TEST_F(ConfigTest, HugeFilesAreRefused) {
  EXPECT_THAT(error_of(std::string(2 << 20, '#')), HasSubstr("p.toml:1: found 2097152 bytes"));
}

TEST_F(ConfigTest, WhatIsShownReadsBackTheSame) {
  const auto loaded =
      read("governor.line = \"1G\"\nlisten.group = \"a\\\"b\\u0007\"\ngovernor.cores = 2.25\n");
  ASSERT_TRUE(loaded) << loaded.error().message();
  const std::string shown = show(*loaded);
  EXPECT_THAT(shown, HasSubstr("line = \"1G\"                                 # p.toml:1\n"));
  EXPECT_THAT(shown, HasSubstr("# jobs is not set                           # default\n"));
  EXPECT_THAT(shown,
              HasSubstr("socket = \"/run/test.sock\"                   # PLIMSOLL_SOCKET\n"));
  const auto again = read(shown);
  ASSERT_TRUE(again) << again.error().message() << shown;
  EXPECT_TRUE(changes(*loaded, *again).empty());
}

TEST_F(ConfigTest, ChangesSayWhatTakesARestart) {
  const auto before = read("governor.line = \"1G\"\nlisten.group = \"a\"\n");
  const auto after = read("governor.line = \"2G\"\n");
  ASSERT_TRUE(before && after);
  std::vector<std::pair<std::string_view, Effect>> seen;
  for (const Change& change : changes(*before, *after)) {
    seen.emplace_back(change.after.key, change.after.effect);
  }
  EXPECT_THAT(seen, ElementsAre(std::pair("governor.line", Effect::at_once),
                                std::pair("listen.group", Effect::at_restart)));
}

TEST(LoadConfig, ANamedFileMustBeThere) {
  const auto loaded =
      load_config({.options = {}, .environment = {}, .file = "/nonexistent/p.toml"});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message(), HasSubstr("/nonexistent/p.toml"));
}

TEST(ParseAddress, TakesHostsAndPorts) {
  EXPECT_EQ(*parse_address("h:1"), (Address{.host = "h", .port = 1}));
  EXPECT_EQ(*parse_address("[::]:65535"), (Address{.host = "::", .port = 65535}));
  for (const char* bad : {"", "h", ":1", "h:", "h:0", "h:65536", "h:-1", "::1:80", "[]:1"}) {
    EXPECT_FALSE(parse_address(bad)) << bad;
  }
}

}  // namespace
}  // namespace plimsoll::daemon
