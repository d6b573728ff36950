#include "supervisor/output/output_pump.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "supervisor/output/disk.h"

namespace plimsoll::output {
namespace {

// Pieces printed before pipes are looked at again: 1 MiB, so that a long backlog to be printed to a
// fast reader does not keep jobs waiting.
constexpr int kPiecesPerTurn = 16;

// Reads of one pipe when its attempt is over. More than the largest pipe holds (1 MiB, pipe(7)); a
// bound because a writer that escaped may go on.
constexpr int kRestReadsMax = 32;

constexpr const char* kWaitsForRoom =
    "jobs that write to their output are blocked until there is space; PLIMSOLL_TMPDIR and "
    "--results choose other file systems";
constexpr const char* kLost = "the rest of its output is lost, because the run is ending";
constexpr const char* kMayBeLost = "its output may be lost in a power failure";
constexpr const char* kWaits =
    "jobs that write to their output are blocked; Plimsoll tries again from time to time";

}  // namespace

Result<Printer::Flushed> Printer::flush() {
  Out& out = outs_[static_cast<std::size_t>(side_)];
  while (written_ < piece_.size() && !out.lost) {
    auto wrote = out.nonblocking_fd.write(std::string_view(piece_).substr(written_));
    if (wrote && *wrote == 0) return Flushed::waits;
    if (wrote) {
      written_ += *wrote;
    } else if (out_of_room(wrote.error().code)) {
      return pass(std::move(wrote), side_ == Side::out ? "standard output" : "standard error");
    } else {
      out.lost = true;
      out.why_lost = std::move(wrote).error();
      piece_.clear();
      return Flushed::lost;
    }
  }
  piece_.clear();
  written_ = 0;
  return Flushed::all;
}

std::string Printer::take() {
  written_ = 0;
  return std::exchange(piece_, {});
}

std::string& Printer::piece(Side side) {
  PLIMSOLL_CHECK(piece_.empty());
  side_ = side;
  written_ = 0;
  return piece_;
}

OutputPump::OutputPump(loop::Loop& loop, Setup setup, OutputObserver& observer)
    : loop_(loop),
      post_(loop.poster()),
      setup_(std::move(setup)),
      observer_(observer),
      turns_(make_print_order(setup_.order, *this, std::move(setup_.jobs))),
      grace_timer_(loop.timer([this] { on_grace_over(); })),
      retry_timer_(loop.timer([this] { retry(); })) {}

void OutputPump::open(std::shared_ptr<Attempt> attempt) {
  Attempt& added = *attempt;
  attempts_.emplace(added.serial, std::move(attempt));
  for (Channel* const channel : {&added.out, &added.err}) {
    channel->attempt = &added;
    channel->side = channel == &added.out ? Side::out : Side::err;
  }
  if (setup_.results) make_results(added);
  turns_->opened(added);
  for (Channel* const channel : {&added.out, &added.err}) {
    if (!channel->stream.ended()) watch(*channel);
  }
}

void OutputPump::make_results(Attempt& attempt) {
  if (attempt.ended()) return;
  auto files = setup_.results->create(attempt.job, attempt.name);
  if (!files) {
    observer_.on_trouble({.job = attempt.job,
                          .error = std::move(files).error(),
                          .consequence = "its output is printed but not kept there"});
    return;
  }
  if (!attempt.out.stream.ended()) {
    attempt.out.stream.copy_to(std::move(files->out));
  }
  if (!attempt.err.stream.ended()) {
    attempt.err.stream.copy_to(std::move(files->err));
  }
}

void OutputPump::watch(Channel& channel) {
  auto watch = loop_.watch(channel.stream.pipe(), EPOLLIN,
                           [this, &channel](std::uint32_t) { on_readable(channel); });
  if (watch) {
    channel.watch = std::move(*watch);
  } else {
    stall(channel, std::move(watch).error());
  }
}

void OutputPump::on_readable(Channel& channel) {
  if (channel.stream.backlog() >= kBacklogMax && turns_->live(*channel.attempt)) {
    channel.watch = {};  // compose() takes it up again
    return;
  }
  read(channel);
  print();
}

Stream::Read OutputPump::read(Channel& channel) {
  const std::uint64_t before = channel.stream.received();
  auto got = channel.stream.read(setup_.spool, buffer_);
  moved_ += channel.stream.received() - before;
  if (!got) {
    stall(channel, std::move(got).error());
    return Stream::Read::nothing;
  }
  if (*got == Stream::Read::something) turns_->arrived(channel);
  if (*got == Stream::Read::end) end(channel);
  return *got;
}

void OutputPump::end(Channel& channel) {
  Attempt& attempt = *channel.attempt;
  channel.watch = {};
  std::erase(stalled_, &channel);
  if (auto kept = channel.stream.end(attempt.form); !kept) {
    report(attempt.job, std::move(kept).error(), kMayBeLost);
  }
  turns_->arrived(channel);
  if (!attempt.ended()) return;
  attempt.traffic->complete.store(true, std::memory_order_release);
  settle(attempt);
}

void OutputPump::finish(std::uint64_t serial, Disposition disposition, TrafficTold told) {
  const auto found = attempts_.find(serial);
  PLIMSOLL_CHECK(found != attempts_.end());
  const std::shared_ptr<Attempt> attempt = found->second;  // its end does not destroy it yet
  attempt->state = Attempt::State::leaving;
  attempt->disposition = disposition;
  attempt->told = told;
  if (attempt->ended()) {
    settle(*attempt);
  } else {
    take_rest(*attempt);
  }
  if (!attempt->ended()) {
    const Instant until = loop::now() + setup_.escape_grace;
    if (leaving_.empty()) grace_timer_.set(until);
    leaving_.push_back({.until = until, .serial = serial});
  }
  print();
}

// Both streams have ended; is the attempt over as well?
void OutputPump::settle(Attempt& attempt) {
  if (attempt.state != Attempt::State::leaving) return;
  attempt.state = Attempt::State::over;
  if (attempt.told == TrafficTold::no) {
    observer_.on_received(
        {.job = attempt.job, .attempt = attempt.number, .received = attempt.traffic->so_far()});
  }
  if (attempt.disposition == Disposition::discard && setup_.order != Order::line) {
    attempt.out.stream.drop(setup_.spool);
    attempt.err.stream.drop(setup_.spool);
  }
  turns_->over(attempt);
}

// Reads what stands in the pipes of an attempt that is over, now and not when epoll comes to it: so
// attempts are printed in the order in which they were finished.
void OutputPump::take_rest(Attempt& attempt) {
  for (Channel* const channel : {&attempt.out, &attempt.err}) {
    auto got = Stream::Read::something;
    for (int i = 0; i < kRestReadsMax && got == Stream::Read::something; ++i) {
      if (channel->stream.ended() || channel->stream.held()) break;
      got = read(*channel);
    }
  }
}

void OutputPump::on_grace_over() {
  const Instant now = loop::now();
  while (!leaving_.empty() && leaving_.front().until <= now) {
    const std::uint64_t serial = leaving_.front().serial;
    leaving_.pop_front();
    const auto found = attempts_.find(serial);
    if (found == attempts_.end()) continue;
    const std::shared_ptr<Attempt> attempt = found->second;  // its end does not destroy it yet
    take_rest(*attempt);
    if (attempt->out.stream.held() || attempt->err.stream.held()) {  // the disk has no room yet
      leaving_.push_back({.until = now + setup_.escape_grace, .serial = serial});
      continue;
    }
    for (Channel* const channel : {&attempt->out, &attempt->err}) {
      if (!channel->stream.ended()) end(*channel);
    }
  }
  if (!leaving_.empty()) grace_timer_.set(leaving_.front().until);
  print();
}

void OutputPump::stall(Channel& channel, Error error) {
  channel.watch = {};
  stalled_.push_back(&channel);
  const char* const consequence = !waits_for_room_          ? kLost
                                  : out_of_room(error.code) ? kWaitsForRoom
                                                            : kWaits;
  report(channel.attempt->job, std::move(error), consequence);
  const bool at_once = !waits_for_room_ && channel.stream.held();
  retry_timer_.set(at_once ? loop::now() : loop::now() + setup_.retry_after);
}

// What it holds, and what its pipe still has.
void OutputPump::lose_held(Channel& channel) {
  channel.stream.lose_held();
  end(channel);
}

void OutputPump::stop_waiting_for_room() {
  waits_for_room_ = false;
  reported_.clear();
  retry();
}

void OutputPump::report(std::optional<JobId> job, Error error, std::string consequence) {
  if (!reported_.insert(error.code).second) return;
  observer_.on_trouble(
      {.job = job, .error = std::move(error), .consequence = std::move(consequence)});
}

void OutputPump::retry() {
  printer_stalled_ = false;
  for (Channel* const channel : std::exchange(stalled_, {})) {
    if (channel->stream.held()) {
      if (auto kept = channel->stream.keep_held(setup_.spool); !kept) {
        if (waits_for_room_) {
          stall(*channel, std::move(kept).error());
        } else {
          report(channel->attempt->job, std::move(kept).error(), kLost);
          lose_held(*channel);
        }
        continue;
      }
      turns_->arrived(*channel);
    }
    watch(*channel);
  }
  print();
  if (stalled_.empty() && !printer_stalled_) reported_.clear();
}

void OutputPump::close(JobId job) {
  turns_->passed(job);
  print();
}

void OutputPump::drain() {
  draining_ = true;
  turns_->last();
  print();
}

void OutputPump::print() {
  if (outlet_watch_ || printer_stalled_ || printing_goes_on_ || handed_over_) return;
  for (int pieces = 0; pieces < kPiecesPerTurn; ++pieces) {
    if (!flush()) return;
    Channel* const channel = turns_->next();
    if (!channel) return finish_printing();
    compose(*channel);
  }
  printing_goes_on_ = true;
  post_([this] {
    printing_goes_on_ = false;
    print();
  });
}

// Nothing is left to print for now.
void OutputPump::finish_printing() {
  if (!draining_ || !attempts_.empty()) return;
  if (hand_over_ && !std::exchange(screen_told_, true)) {
    handed_over_ = true;
    return hand_over_({});
  }
  draining_ = false;
  observer_.on_drained();
}

void OutputPump::on_screen(Result<void> taken) {
  handed_over_ = false;
  const bool news = !taken && !screen_lost_;
  if (news) {
    screen_lost_ = true;
    observer_.on_lost({.side = setup_.printer.side(), .error = std::move(taken).error()});
  }
  print();
}

// Whether nothing is in hand any more.
bool OutputPump::flush() {
  if (screen_sides_[static_cast<std::size_t>(setup_.printer.side())]) {
    std::string piece = setup_.printer.take();
    if (piece.empty() || screen_lost_) return true;
    handed_over_ = true;
    hand_over_(std::move(piece));
    return false;
  }
  auto flushed = setup_.printer.flush();
  if (!flushed && !waits_for_room_) {
    report(std::nullopt, std::move(flushed).error(), kLost);
    [[maybe_unused]] const std::string lost = setup_.printer.take();
    return true;
  }
  if (!flushed) {
    printer_stalled_ = true;
    retry_timer_.set(loop::now() + setup_.retry_after);
    report(std::nullopt, std::move(flushed).error(),
           "the output of jobs waits until there is space for it");
    return false;
  }
  switch (*flushed) {
    case Printer::Flushed::all: return true;
    case Printer::Flushed::lost:
      observer_.on_lost({.side = setup_.printer.side(), .error = setup_.printer.why_lost()});
      return true;
    case Printer::Flushed::waits: break;
  }
  auto watch = loop_.watch(setup_.printer.fd(), EPOLLOUT, [this](std::uint32_t) {
    outlet_watch_ = {};
    print();
  });
  if (watch) {
    outlet_watch_ = std::move(*watch);
  } else {
    printer_stalled_ = true;
    retry_timer_.set(loop::now() + setup_.retry_after);
  }
  return false;
}

void OutputPump::compose(Channel& channel) {
  Stream& stream = channel.stream;
  std::string& piece = setup_.printer.piece(channel.side);
  if (auto composed = stream.compose(piece, setup_.spool, channel.attempt->form); !composed) {
    observer_.on_trouble({.job = channel.attempt->job,
                          .error = std::move(composed).error(),
                          .consequence = "a part of its output is lost"});
  }
  moved_ += piece.size();
  if (stream.ended() || stream.held() || channel.watch || stream.backlog() >= kBacklogMax / 2) {
    return;
  }
  // Stalled ones are taken up by retry() instead.
  if (std::find(stalled_.begin(), stalled_.end(), &channel) == stalled_.end()) watch(channel);
}

}  // namespace plimsoll::output
