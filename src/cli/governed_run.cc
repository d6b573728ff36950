#include "cli/governed_run.h"

#include <unistd.h>

#include <cstdio>

#include "cli/diagnostics.h"
#include "engine/ledger_place.h"
#include "engine/runtime_dir.h"
#include "engine/wall_clock.h"
#include "policy/attempt.h"
#include "record/json.h"
#include "record/summary.h"

namespace plimsoll::cli {
namespace {

// What is listed unless --heaviest says otherwise: a glance.
constexpr std::size_t kHeaviestListed = 10;

// Where the display draws on the terminal that jobs write to as well, they write through it.
std::optional<output::Screen> screen_of(Display& display) {
  output::Screen screen{.print =
                            [&display](std::string piece, std::function<void(Result<void>)> done) {
                              display.print_above(std::move(piece), std::move(done));
                            },
                        .shows_out = display.owns(STDOUT_FILENO),
                        .shows_err = display.owns(STDERR_FILENO)};
  if (!screen.shows_out && !screen.shows_err) return std::nullopt;
  return screen;
}

}  // namespace

GovernedRun::GovernedRun(engine::Machine& machine, const BatchOptions& options, BatchFiles files,
                         engine::BatchConfig config, std::vector<std::string> command_line)
    : machine_(machine),
      options_(options),
      files_(std::move(files)),
      config_(std::move(config)),
      jobs_(config_.jobs),
      command_line_(std::move(command_line)),
      begun_(loop::now()),
      run_id_(config_.run_id),
      whole_{.line = config_.conductor.governor.line, .cores = config_.conductor.governor.cores},
      digest_(options.heaviest.value_or(kHeaviestListed)) {}

GovernedRun::~GovernedRun() = default;

Result<int> GovernedRun::run() {
  if (auto shown = start_display(); !shown) return pass(std::move(shown));
  const auto note = [this](const std::string& text) { display_->note(text); };
  memory_ = std::make_unique<RunMemory>(run_start(), note);
  config_.output.screen = screen_of(*display_);
  batch_ = std::make_unique<engine::Batch>(machine_, memory_->estimator(), std::move(config_),
                                           observer());
  lease();
  start_control();
  auto summary = batch_->run();
  control_.reset();
  if (!summary) return pass(std::move(summary));
  memory_->finish(*summary);
  if (auto told = files_.run_ended(*summary)) display_->note(*told);
  display_->finish();
  print_end(*summary);
  return policy::batch_exit_status(digest_.jobs() - digest_.succeeded());
}

Result<void> GovernedRun::start_display() {
  const auto style = options_.quiet ? ProgressStyle::none : *parse_progress("auto");
  auto display = Display::start(
      machine_.loop(),
      {.style = options_.progress.value_or(style),
       .begun = begun_,
       .jobs = jobs_.size(),
       .look = [this] { return status(); },
       .spec_of = [this](JobId job) -> const policy::JobSpec& { return batch_->spec_of(job); }});
  if (!display) return pass(std::move(display));
  display_ = std::move(*display);
  return {};
}

record::RunStart GovernedRun::run_start() const {
  record::RunStart start{.meta = {.run = run_id_,
                                  .command_line = command_line_,
                                  .started = engine::wall_now(),
                                  .jobs = jobs_.size(),
                                  .line = whole_.line,
                                  .cores = whole_.cores},
                         .begun = begun_,
                         .names = {}};
  for (const policy::JobSpec& job : jobs_) {
    if (job.name != std::to_string(static_cast<std::uint64_t>(job.id))) {
      start.names.emplace(job.id, job.name);
    }
  }
  return start;
}

engine::BatchObserver GovernedRun::observer() {
  return {.progress = [this](const engine::Progress&) { display_->changed(); },
          .ended = [this](const policy::JobSpec& job, const record::JobReport& report,
                          Bytes received) { on_ended(job, report, received); },
          .learnt = [this](const policy::Experience& what) { memory_->learnt(what); },
          .stopping = [this] { display_->suspend(); },
          .resumed = [this] { display_->resume(); },
          .event =
              [this](const policy::Event& event) {
                memory_->event(event);
                display_->event(event);
              },
          .notice = [this](const std::string& text) { display_->note(text); }};
}

void GovernedRun::on_ended(const policy::JobSpec& job, const record::JobReport& report,
                           Bytes received) {
  digest_.add(report);
  memory_->job(report);
  display_->ended(job, report);
  if (auto told = files_.job_ended(job, report, received)) display_->note(*told);
}

engine::RunStatus GovernedRun::status() const {
  const engine::Progress& progress = batch_->progress();
  return engine::run_status(
      batch_->conductor().status(),
      {.run = run_id_,
       .elapsed = loop::now() - begun_,
       .ended = {.total = progress.jobs,
                 .succeeded = progress.succeeded,
                 .failed = progress.failed,
                 .skipped = progress.skipped}},
      [this](JobId job) -> const policy::JobSpec& { return batch_->spec_of(job); });
}

// Alone on the machine until somebody else comes.
void GovernedRun::lease() {
  if (options_.standalone) return;
  auto ledger = engine::Ledger::join(engine::open_ledger(), run_id_);
  if (!ledger) return display_->note("the line is not shared: " + ledger.error().message());
  lease_.emplace(machine_.loop(), std::move(*ledger), whole_, engine::LeaseRole::run,
                 engine::holder_of(batch_->conductor()));
}

void GovernedRun::start_control() {
  auto control = engine::Control::start(
      machine_.loop(), {.run_id = run_id_, .directory = engine::runtime_dir()}, handlers());
  if (!control) return display_->note("no plimsoll ctl for this run: " + control.error().message());
  control_ = std::move(*control);
}

engine::ControlHandlers GovernedRun::handlers() {
  engine::Conductor& conductor = batch_->conductor();
  return {.status = [this] { return status(); },
          .find = [this](std::string_view text) { return engine::find_job(jobs_, text); },
          .pause = [&conductor](JobId job) { return conductor.pause(job); },
          .resume = [&conductor](JobId job) { return conductor.resume(job); },
          .kill = [&conductor](JobId job) { return conductor.kill(job, "killed by the user"); },
          .set_line = [this](std::string_view size) -> Result<Bytes> {
            auto amount = engine::parse_memory_amount(size);
            if (!amount) return pass(std::move(amount));
            auto line = engine::line_of(*amount, machine_);
            if (!line) return line;
            whole_.line = *line;
            if (lease_) lease_->set_line(*line);
            if (!lease_) batch_->conductor().set_line(*line, "the user has set another line");
            return *line;
          },
          .set_jobs_max = [&conductor](unsigned jobs) -> Result<void> {
            conductor.set_jobs_max(jobs);
            return {};
          }};
}

void GovernedRun::print_end(const record::RunSummary& summary) const {
  if (options_.quiet) return;
  if (options_.progress == ProgressStyle::json) {
    const std::string line = record::to_json(summary, record::JsonForm::line);
    std::fwrite(line.data(), 1, line.size(), stderr);
    return;
  }
  record::TextStyle style = stderr_style();
  if (options_.verbose) style.detail = record::Detail::verbose;
  std::string text;
  if (!options_.heaviest && digest_.jobs() > 1) {
    text = record::heaviest_table(digest_, record::Weight::memory, style);
  }
  if (options_.heaviest) {
    for (const record::Weight weight :
         {record::Weight::memory, record::Weight::cpu, record::Weight::stall}) {
      text += record::heaviest_table(digest_, weight, style);
    }
  }
  text += record::run_text(summary, digest_, style);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace plimsoll::cli
