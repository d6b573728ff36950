#include "supervisor/output/collector.h"

#include <fcntl.h>
#include <signal.h>

#include <utility>

#include "base/check.h"
#include "supervisor/output/output_pump.h"
#include "supervisor/output/urgency.h"

namespace plimsoll::output {
namespace {

constexpr mode_t kFilePermissions = 0666;  // less the umask, as the shell's `>` does

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe");
  Pipe pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
  // The flag belongs to this end alone; the child's end blocks as it expects.
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return fail_errno("make a pipe");
  return pipe;
}

// Without O_NONBLOCK a named pipe that nobody reads would stop us; the child must not inherit it.
Result<UniqueFd> open_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                     kFilePermissions));
  if (!fd) return fail_errno("open " + path);
  if (::fcntl(fd.get(), F_SETFL, 0) != 0) return fail_errno("open " + path);
  return fd;
}

// The descriptor for the child; a pipe's other end goes to `stream`.
Result<UniqueFd> open_destination(const Destination& destination, Stream& stream,
                                  std::atomic<std::uint64_t>& count) {
  if (destination) return open_file(*destination);
  auto pipe = make_pipe();
  if (!pipe) return pass(std::move(pipe));
  stream = Stream(std::move(pipe->read), count);
  return std::move(pipe->write);
}

Result<UniqueFd> duplicate(const UniqueFd& fd) {
  UniqueFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!copy) return fail_errno("duplicate a descriptor");
  return copy;
}

Form form_of(Order order, std::optional<std::string> tag) {
  Form form{.tag = std::move(tag)};
  if (order == Order::line) {
    form.newline = Form::Newline::always;
  } else if (form.tag) {
    form.newline = Form::Newline::after_the_last;
  }
  return form;
}

Result<Printer> make_printer(const Config& config) {
  auto out = NonblockingFd::onto(config.out);
  if (!out) return pass(std::move(out), "standard output");
  auto err = NonblockingFd::onto(config.err);
  if (!err) return pass(std::move(err), "standard error");
  return Printer(std::move(*out), std::move(*err));
}

// Hands on what the pump tells to the collector's owner, on the owner's loop, while there is one.
class Teller : public OutputObserver {
 public:
  Teller(const loop::Loop& loop, std::weak_ptr<OutputObserver*> owner)
      : post_(loop.poster()), owner_(std::move(owner)) {}

  void on_received(const Ended& ended) override { tell(&OutputObserver::on_received, ended); }
  void on_trouble(const Trouble& trouble) override { tell(&OutputObserver::on_trouble, trouble); }
  void on_lost(const Lost& lost) override { tell(&OutputObserver::on_lost, lost); }
  void on_drained() override { tell(&OutputObserver::on_drained); }

 private:
  template <class... Event>
  void tell(void (OutputObserver::*what)(const Event&...), const Event&... event) const {
    post_([weak = owner_, what, event...] {
      if (const auto owner = weak.lock()) ((*owner)->*what)(event...);
    });
  }

  std::function<void(std::function<void()>)> post_;
  std::weak_ptr<OutputObserver*> owner_;
};

// Hands pieces to the screen on the supervisor's loop, and its answers to the pump on ours.
std::function<void(std::string)> screen_call(const loop::Loop& supervisor, const Screen& screen,
                                             std::weak_ptr<OutputObserver*> alive,
                                             std::function<void(std::function<void()>)> back,
                                             std::function<void(Result<void>)> answer) {
  auto done = [back = std::move(back), answer = std::move(answer)](Result<void> taken) {
    back([answer, taken = std::move(taken)] { answer(taken); });
  };
  return [post = supervisor.poster(), print = screen.print, alive = std::move(alive),
          done = std::move(done)](std::string piece) {
    post([print, alive, done, piece = std::move(piece)]() mutable {
      if (!alive.expired()) print(std::move(piece), done);
    });
  };
}

// The thread inherits a mask that blocks everything: signals are the supervisor's, and a write to a
// closed pipe or beyond a limit is to fail, not to kill.
template <class Body>
std::thread start_deaf_thread(Body body) {
  sigset_t all, before;
  ::sigfillset(&all);
  PLIMSOLL_CHECK(::pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
  std::thread thread(std::move(body));
  PLIMSOLL_CHECK(::pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
  return thread;
}

}  // namespace

Capture::Capture(Capture&& other) noexcept
    : collector_(std::exchange(other.collector_, nullptr)),
      serial_(other.serial_),
      traffic_(std::move(other.traffic_)) {}

Capture& Capture::operator=(Capture&& other) noexcept {
  std::swap(collector_, other.collector_);
  std::swap(serial_, other.serial_);
  std::swap(traffic_, other.traffic_);
  return *this;
}

Capture::~Capture() {
  if (collector_) finish(Disposition::discard);
}

std::optional<Received> Capture::finish(Disposition disposition) {
  PLIMSOLL_CHECK(collector_);
  const bool complete = traffic_->complete.load(std::memory_order_acquire);
  std::exchange(collector_, nullptr)
      ->finish(serial_, disposition, complete ? TrafficTold::yes : TrafficTold::no);
  if (!complete) return std::nullopt;
  return traffic_->so_far();
}

Collector::Collector() = default;

Result<std::unique_ptr<Collector>> Collector::start(const loop::Loop& supervisor, Config config,
                                                    OutputObserver& observer) {
  if (::access(config.spool_dir.c_str(), W_OK | X_OK) != 0) {
    return fail_errno("use " + config.spool_dir + " for spooled output");
  }
  std::optional<Results> results;
  if (config.results_dir) {
    auto made = Results::in(*config.results_dir, config.results_durability);
    if (!made) return pass(std::move(made), "--results");
    results = std::move(*made);
  }
  auto printer = make_printer(config);
  if (!printer) return pass(std::move(printer));
  auto loop = loop::Loop::create();
  if (!loop) return pass(std::move(loop));

  std::unique_ptr<Collector> collector(new Collector());
  collector->order_ = config.order;
  collector->owner_ = std::make_shared<OutputObserver*>(&observer);
  collector->teller_ = std::make_unique<Teller>(supervisor, collector->owner_);
  collector->loop_ = std::make_unique<loop::Loop>(std::move(*loop));
  collector->post_ = collector->loop_->poster();
  collector->output_pump_ =
      std::make_unique<OutputPump>(*collector->loop_,
                                   OutputPump::Setup{.order = config.order,
                                                     .jobs = config.jobs,
                                                     .spool = Spool(config.spool_dir),
                                                     .printer = std::move(*printer),
                                                     .results = std::move(results),
                                                     .escape_grace = config.escape_grace,
                                                     .retry_after = config.retry_after},
                                   *collector->teller_);
  if (config.screen) {
    OutputPump* const output_pump = collector->output_pump_.get();
    output_pump->use_screen(
        screen_call(
            supervisor, *config.screen, collector->owner_, collector->post_,
            [output_pump](Result<void> taken) { output_pump->on_screen(std::move(taken)); }),
        {config.screen->shows_out, config.screen->shows_err});
  }
  collector->thread_ = start_deaf_thread(
      [output_pump = collector->output_pump_.get(), turns = collector->loop_.get()] {
        Urgency urgency;
        while (!output_pump->stopped()) {
          PLIMSOLL_CHECK(turns->run_once(Duration(-1)));
          urgency.note(output_pump->moved(), loop::now());
        }
      });
  return collector;
}

Collector::~Collector() {
  post_([output_pump = output_pump_.get()] { output_pump->stop(); });
  thread_.join();
}

Result<Opened> Collector::open(const AttemptSpec& spec) {
  auto attempt = std::make_shared<Attempt>();
  attempt->serial = ++last_serial_;
  attempt->job = spec.job;
  attempt->number = spec.attempt;
  attempt->name = spec.name;
  attempt->form = form_of(order_, spec.tag);
  attempt->traffic = std::make_shared<Traffic>();
  Traffic& traffic = *attempt->traffic;
  auto out = open_destination(spec.out, attempt->out.stream, traffic.out);
  if (!out) return pass(std::move(out), "stdout");
  auto err = spec.out && spec.out == spec.err
                 ? duplicate(*out)
                 : open_destination(spec.err, attempt->err.stream, traffic.err);
  if (!err) return pass(std::move(err), "stderr");
  if (attempt->ended()) traffic.complete = true;
  Capture capture(*this, attempt->serial, attempt->traffic);
  post_([output_pump = output_pump_.get(), attempt = std::move(attempt)] {
    output_pump->open(attempt);
  });
  return Opened{.out = std::move(*out), .err = std::move(*err), .capture = std::move(capture)};
}

void Collector::finish(std::uint64_t serial, Disposition disposition, TrafficTold told) {
  post_([output_pump = output_pump_.get(), serial, disposition, told] {
    output_pump->finish(serial, disposition, told);
  });
}

void Collector::close(JobId job) {
  post_([output_pump = output_pump_.get(), job] { output_pump->close(job); });
}

void Collector::stop_waiting_for_room() {
  post_([output_pump = output_pump_.get()] { output_pump->stop_waiting_for_room(); });
}

void Collector::drain() {
  post_([output_pump = output_pump_.get()] { output_pump->drain(); });
}

}  // namespace plimsoll::output
