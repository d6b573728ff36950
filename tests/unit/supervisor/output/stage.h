#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/loop/loop.h"
#include "supervisor/output/collector.h"

namespace plimsoll::output {

// A directory that goes when this does.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    // Where real spools go: what a tmpfs can do is not what is tested.
    std::string name = "/var/tmp/plimsoll-output-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct TestPipe {
  TestPipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
  UniqueFd read, write;
};

inline void write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    ASSERT_GT(wrote, 0);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

// Blocks until the text is full, or the end, where it is cut.
inline void fill(std::string& text, int fd) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(fd, text.data() + done, text.size() - done);
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
}

inline std::string read_exactly(int fd, std::size_t size) {
  std::string text(size, '\0');
  fill(text, fd);
  return text;
}

// An attempt whose program is the test itself.
struct Job {
  explicit Job(Opened opened)
      : out(std::move(opened.out)),
        err(std::move(opened.err)),
        capture(std::move(opened.capture)) {}

  void says(std::string_view text) const { write_whole(out.get(), text); }
  void complains(std::string_view text) const { write_whole(err.get(), text); }
  void exits() {
    out = UniqueFd();
    err = UniqueFd();
  }
  void ends(Disposition disposition = Disposition::keep) {
    exits();
    capture.finish(disposition);
  }

  UniqueFd out, err;
  Capture capture;
};

// What a collector has told.
struct Heard : OutputObserver {
  void on_received(const Ended& e) override { ended.push_back(e); }
  void on_trouble(const Trouble& t) override { troubles.push_back(t); }
  void on_lost(const Lost& l) override { losses.push_back(l); }
  void on_drained() override { drained = true; }

  std::vector<Ended> ended;
  std::vector<Trouble> troubles;
  std::vector<Lost> losses;
  bool drained = false;
};

// A collector with the loop of its supervisor, and what it has told. Its stdout and stderr are
// files, unless the test gives it others.
struct Stage : Heard {
  explicit Stage(Config config = {})
      : loop(std::move(*loop::Loop::create())),
        out(::memfd_create("out", MFD_CLOEXEC)),
        err(::memfd_create("err", MFD_CLOEXEC)) {
    if (config.spool_dir.empty()) config.spool_dir = directory.path();
    if (config.out == STDOUT_FILENO) config.out = out.get();
    if (config.err == STDERR_FILENO) config.err = err.get();
    auto started = Collector::start(loop, config, *this);
    EXPECT_TRUE(started) << (started ? "" : started.error().message());
    collector = std::move(*started);
  }

  Job open(const AttemptSpec& spec) {
    auto opened = collector->open(spec);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message());
    return Job(std::move(*opened));
  }
  Job open(unsigned job, std::optional<std::string> tag = {}) {
    return open({.job = JobId{job}, .name = std::to_string(job), .tag = std::move(tag)});
  }
  Job open_again(unsigned job, unsigned attempt) {
    return open({.job = JobId{job}, .attempt = attempt, .name = std::to_string(job)});
  }

  template <class Condition>
  void until(Condition condition, Duration at_most = Duration(-1)) {
    while (!condition()) ASSERT_TRUE(loop.run_once(at_most));
  }
  void drain() {
    collector->drain();
    until([this] { return drained; });
  }
  [[nodiscard]] std::string printed() const { return read_text(out.get()).value_or("?"); }
  [[nodiscard]] std::string printed_err() const { return read_text(err.get()).value_or("?"); }

  TemporaryDirectory directory;
  loop::Loop loop;
  UniqueFd out, err;
  std::unique_ptr<Collector> collector;
};

}  // namespace plimsoll::output
