#include "daemon/runner/runner_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "unit/daemon/api/tree.h"

namespace plimsoll::daemon {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kServers =
    R"("grpcServers": [{"listenPaths": ["/run/runner"], "authenticationPolicy": {"allow": {}}}])";

std::string with(const std::string& more) {
  return R"({"buildDirectoryPath": "/build", )" + std::string(kServers) + more + "}";
}

TEST(RunnerConfig, TheLeast) {
  const auto config = read_runner_config(with(""));
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->settings.build_directory, "/build");
  EXPECT_FALSE(config->settings.set_tmpdir);
  EXPECT_FALSE(config->settings.umask);
  ASSERT_EQ(config->listeners.size(), 1u);
  EXPECT_THAT(config->listeners[0].paths, ElementsAre("/run/runner"));
}

TEST(RunnerConfig, EverythingThatHasAMeaning) {
  const auto config = read_runner_config(with(R"(,
    "set_tmpdir_environment_variable": true, "chrootIntoInputRoot": true,
    "sampleCgroupResourceUsage": true, "cleanTemporaryDirectories": ["/tmp/a", "/tmp/b"],
    "readinessCheckingPathnames": ["/etc/passwd"],
    "symlinkTemporaryDirectories": ["/tmp/link"], "runCommandCleaner": ["/bin/clean", "-x"],
    "runCommandsAs": {"userId": 65534, "groupId": "65534", "additionalGroupIds": [1, 2]},
    "global": {"setUmask": {"umask": 18},
               "setResourceLimits": {"NOFILE": {"softLimit": 100, "hardLimit": "200"},
                                     "CORE": {"softLimit": 0}}})"));
  ASSERT_TRUE(config) << config.error().message();
  const RunnerSettings& settings = config->settings;
  EXPECT_TRUE(settings.set_tmpdir && settings.chroot_into_input_root && settings.sample_cgroup);
  EXPECT_THAT(settings.cleaned_directories, ElementsAre("/tmp/a", "/tmp/b"));
  EXPECT_THAT(settings.readiness_paths, ElementsAre("/etc/passwd"));
  EXPECT_THAT(settings.symlinked_temporary_directories, ElementsAre("/tmp/link"));
  EXPECT_THAT(settings.cleaner_command, ElementsAre("/bin/clean", "-x"));
  EXPECT_EQ(settings.run_as->uid, 65534u);
  EXPECT_EQ(settings.run_as->gid, 65534u);
  EXPECT_THAT(settings.run_as->groups, ElementsAre(1u, 2u));
  EXPECT_EQ(settings.umask, mode_t{022});
  ASSERT_EQ(settings.rlimits.size(), 2u);
  for (const auto& [resource, value] : settings.rlimits) {
    EXPECT_EQ(value.rlim_cur, resource == RLIMIT_NOFILE ? 100u : 0u);
    EXPECT_EQ(value.rlim_max, resource == RLIMIT_NOFILE ? 200u : RLIM_INFINITY);
  }
}

TEST(RunnerConfig, WhatMeansNothingHereIsTold) {
  const auto config = read_runner_config(with(R"(, "cleanProcessTable": true,
    "appleXcodeDeveloperDirectories": {"a": "b"}, "global": {"diagnosticsHttpServer": {"x": 1}})"));
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_THAT(config->remarks, Contains(HasSubstr("cleanProcessTable")));
  EXPECT_THAT(config->remarks, Contains(HasSubstr("Xcode")));
  EXPECT_THAT(config->remarks, Contains(HasSubstr("global.diagnosticsHttpServer")));
}

TEST(RunnerConfig, MistakesAreTold) {
  const std::pair<std::string, const char*> cases[] = {
      {"{", ""},
      {"[]", ""},
      {with(R"(, "buildDirectoryPaht": "/x")"), "buildDirectoryPaht"},
      {with(R"(, "chrootIntoInputRoot": "maybe")"), "chroot"},
      {with(R"(, "runCommandsAs": {"userId": -1})"), ""},
      {with(R"(, "runCommandsAs": {"user": 1})"), "user"},
      {with(R"(, "temporaryDirectoryInstaller": {"address": "x"})"), "temporaryDirectoryInstaller"},
      {with(R"(, "global": {"setUmask": {"umask": 4096}})"), "setUmask"},
      {with(R"(, "global": {"setResourceLimits": {"FILES": {}}})"), "FILES"},
      {"{" + std::string(kServers) + "}", "buildDirectoryPath"},
      {R"({"buildDirectoryPath": "/build"})", "grpcServers"},
      {R"({"buildDirectoryPath": "/b", "grpcServers": [{"listenPaths": [null],
           "authenticationPolicy": {"allow": {}}}]})",
       "found no address in listenPaths"},
      {R"({"buildDirectoryPath": "/b", "grpcServers": [{"listenPaths": ["/x"]}]})",
       "authenticationPolicy"},
      {R"({"buildDirectoryPath": "/b", "grpcServers": [{"listenPaths": ["/x"],
           "authenticationPolicy": {"deny": "no"}}]})",
       "authenticationPolicy.deny"},
      {R"({"buildDirectoryPath": "/b", "grpcServers": [{"tls": {}, "listenPaths": ["/x"],
           "authenticationPolicy": {"allow": {}}}]})",
       "grpcServers[0].tls"}};
  for (const auto& [json, told] : cases) {
    SCOPED_TRACE(json);
    const auto config = read_runner_config(json);
    ASSERT_FALSE(config);
    EXPECT_THAT(config.error().message(), HasSubstr(told));
  }
}

TEST(RunnerConfig, MistakesSayWhereAndWhatWasExpected) {
  const std::pair<std::string, const char*> cases[] = {
      {R"({"buildDirectoryPath": 5})", "buildDirectoryPath: found 5, expected a string"},
      {R"({"buildDirectoryPath": {"a": 1}})",
       "buildDirectoryPath: found an object, expected a single value"},
      {R"({"buildDirectoryPath": ["x"]})",
       "buildDirectoryPath: found a list, expected a single value"},
      {R"({"chrootIntoInputRoot": "maybe"})",
       R"(chrootIntoInputRoot: found "maybe", expected true or false)"},
      {R"({"grpcServers": [{"listenPaths": ["/x", 1]}]})",
       "grpcServers[0].listenPaths[1]: found 1, expected a string"},
      {R"({"grpcServers": 5})", "grpcServers: found 5, expected an object"},
      {R"({"global": {"setUmask": {"umask": -1}}})",
       "global.setUmask.umask: found -1, expected a whole number, not negative"},
      {R"({"global": {"setUmask": {"umask": [1]}}})",
       "global.setUmask.umask: found a list, expected a single value"},
      {R"({"grpcServers": [{"listenPath": "/x"}]})", "grpcServers[0].listenPath: no such setting"},
      {R"({"buildDirectory": "/x"})", "buildDirectory: no such setting"},
      {"[1]", "found no object, expected one"}};
  for (const auto& [json, told] : cases) {
    const auto config = read_runner_config(json);
    ASSERT_FALSE(config) << json;
    EXPECT_EQ(config.error().message(), told);
  }
}

using Jsonnet = BuildTree;

TEST_F(Jsonnet, SeesTheEnvironment) {
  ::setenv("PLIMSOLL_TEST_DIRECTORY", "/from/outside", 1);
  file("runner.jsonnet", 0644,
       R"(local path = std.extVar('PLIMSOLL_TEST_DIRECTORY') + '/build';
          { buildDirectoryPath: path,
            grpcServers: [{ listenPaths: ['worker/runner'],
                            authenticationPolicy: { allow: {} } }] })");
  const auto config = load_runner_config(build / "runner.jsonnet");
  ::unsetenv("PLIMSOLL_TEST_DIRECTORY");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->settings.build_directory, "/from/outside/build");
}

TEST_F(Jsonnet, AMistakeNamesItsPlace) {
  file("bad.jsonnet", 0644, "{ a: }");
  const auto config = load_runner_config(build / "bad.jsonnet");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message(), HasSubstr("bad.jsonnet:1"));
  EXPECT_FALSE(load_runner_config(build / "missing.jsonnet"));
  file("type.jsonnet", 0644, "{\n  buildDirectoryPath: 5,\n}");
  const auto of_type = load_runner_config(build / "type.jsonnet");
  ASSERT_FALSE(of_type);
  EXPECT_THAT(of_type.error().message(),
              HasSubstr("type.jsonnet: buildDirectoryPath: found 5, expected a string"));
}

}  // namespace
}  // namespace plimsoll::daemon
