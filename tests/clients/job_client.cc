// Calls plimsoll.v1.Jobs for scripts of tests, through the client library.
//
//   job_client SOCKET run SECONDS ARG...   runs a command, its output to ours; gives up then
//   job_client SOCKET submit ARG...        prints the job's number
//   job_client SOCKET watch JOB            follows it to its end, as `run` does
//   job_client SOCKET list                 a line for each job: number, state, uid, name
//   job_client SOCKET signal JOB NUMBER
//   job_client SOCKET explain JOB          a line for each decision: kind, reason
//
// A call that fails prints "code N: MESSAGE" on standard error and exits with 100 + N. `run` prints
// "outcome OUTCOME CODE" on standard error, and each state.
#include <plimsoll/jobs.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace plimsoll::client;

template <class Value>
int told(const Answer<Value>& answer) {
  if (answer) return 0;
  std::fprintf(stderr, "code %d: %s\n", answer.failure.code, answer.failure.message.c_str());
  return 100 + answer.failure.code;
}

const char* name_of(RunState state) {
  switch (state) {
    case RunState::waiting: return "waiting";
    case RunState::running: return "running";
    case RunState::paused: return "paused";
  }
  return "";
}

Command command_of(const std::vector<std::string>& argv) {
  return {.argv = argv, .env = {{"PATH", "/usr/bin:/bin"}}};
}

Listener to_ours() {
  return {.state =
              [](const StateChange& change) {
                std::fprintf(stderr, "state %s attempt %u\n", name_of(change.state),
                             change.attempt);
              },
          .out = [](std::string_view data) { std::fwrite(data.data(), 1, data.size(), stdout); },
          .err = [](std::string_view data) { std::fwrite(data.data(), 1, data.size(), stderr); }};
}

int show(const Answer<Ended>& ended) {
  if (ended) {
    std::fprintf(stderr, "outcome %s %d\n", ended->outcome.c_str(), ended->exit_code.value_or(0));
  }
  return told(ended);
}

int list(Jobs& jobs) {
  const auto listed = jobs.list();
  for (const ListedJob& job : listed.value.value_or(std::vector<ListedJob>())) {
    std::printf("%llu %s %u %s\n", static_cast<unsigned long long>(job.job), name_of(job.state),
                job.uid, job.name.c_str());
  }
  return told(listed);
}

int call(Jobs& jobs, const std::string& word, std::vector<std::string> rest) {
  if (word == "submit") {
    const auto job = jobs.submit(command_of(rest));
    if (job) std::printf("%llu\n", static_cast<unsigned long long>(*job));
    return told(job);
  }
  if (word == "list") return list(jobs);
  rest.resize(2, "0");
  const std::uint64_t job = std::stoull(rest[0]);
  if (word == "watch") return show(jobs.watch(job, to_ours()));
  if (word == "signal") return told(jobs.signal(job, std::stoi(rest[1])));
  const auto explained = jobs.explain(job);
  for (const Decision& decision : explained.value.value_or(Explanation()).decisions) {
    std::printf("%s %s\n", decision.kind.c_str(), decision.reason.c_str());
  }
  return told(explained);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return 125;
  const auto jobs = Jobs::connect(words[0]);
  std::vector<std::string> rest(words.begin() + 2, words.end());
  if (words[1] != "run") return call(*jobs, words[1], std::move(rest));
  const double seconds = rest.empty() ? 1 : std::stod(rest.front());
  if (!rest.empty()) rest.erase(rest.begin());
  const std::chrono::duration<double> limit(seconds);
  return show(jobs->run(command_of(rest), to_ours(),
                        std::chrono::duration_cast<std::chrono::nanoseconds>(limit)));
}
