#include <algorithm>

#include "supervisor/external/external_jobs.h"
#include "supervisor/external/external_jobs_state.h"

// What external jobs use: as their clients tell, and as looks at their places show.
namespace plimsoll::supervisor {

Result<void> ExternalJobs::observe(ClientId id, const std::string& name,
                                   const ExternalSample& sample) {
  auto job = find(id, name);
  if (!job) return pass(std::move(job));
  ExternalJob& external_job = *known(*job);
  if (external_job.state == ExternalJob::State::waiting) {
    return fail(
        std::errc::operation_in_progress,
        "the job \"" + name + "\" is not admitted, expected measurements of admitted jobs only");
  }
  // What is seen at its place goes before its client's word, which may be any number.
  ExternalSample told = sample;
  if (told.used) told.used = std::min(*told.used, config_.machine.memory);
  if (told.cpu) {
    const Duration since = external_job.clock->elapsed(now());
    told.cpu = std::min(*told.cpu, since * config_.machine.cpus);
  }
  if (external_job.sampled.used) told.used.reset();
  if (external_job.sampled.cpu) told.cpu.reset();
  if (external_job.sampled.io) told.io.reset();
  tell(*job, external_job, told);
  return {};
}

// Of what is over: it costs nobody anything that he has.
void ExternalJobs::take_last_word(JobId job, ExternalJob& external_job, const ExternalEnd& how) {
  if (!how.peak && !how.cpu) return;
  const Duration cpu_max = external_job.clock->elapsed(now()) * config_.machine.cpus;
  const Bytes peak = std::min(how.peak.value_or(Bytes{}), config_.machine.memory);
  const Duration cpu = std::clamp(how.cpu.value_or(Duration{}), Duration{}, cpu_max);
  external_job.peak = std::max(external_job.peak, peak);
  external_job.seen.cpu = std::max(external_job.seen.cpu.value_or(Duration{}), cpu);
  if (external_job.clock->is_paused()) return;
  host_.on_sampled(job, {.ran = external_job.clock->ran(now()),
                         .used = {},
                         .peak = external_job.peak,
                         .cpu = *external_job.seen.cpu,
                         .io = external_job.seen.io,
                         .written = external_job.written});
}

void ExternalJobs::tell(JobId job, ExternalJob& external_job, const ExternalSample& sample) {
  if (sample.used) external_job.seen.used = sample.used;
  if (sample.cpu) external_job.seen.cpu = sample.cpu;
  if (sample.io) external_job.seen.io = sample.io;
  const Bytes used = external_job.seen.used.value_or(Bytes{});
  external_job.peak = std::max(external_job.peak, used);
  if (external_job.clock->is_paused()) return;  // as of the host executor: not while it is frozen
  policy::JobSample seen{.ran = external_job.clock->ran(now()),
                         .used = used,
                         .peak = external_job.peak,
                         .cpu = external_job.seen.cpu.value_or(Duration{}),
                         .io = external_job.seen.io,
                         .written = external_job.written};
  // A word is no measurement: nobody else is to lose anything by it.
  if (!external_job.sampled.used && external_job.admitted_with) {
    seen.used = std::min(used, *external_job.admitted_with);
    seen.peak = std::min(external_job.peak, *external_job.admitted_with);
    seen.claimed = used - seen.used;
  }
  host_.on_sampled(job, seen);
}

bool ExternalJobs::look() {
  const Instant begun = now();
  if (round_.empty()) {
    round_ = those(Waits::no);
    round_at_ = begun;
  }
  while (!round_.empty()) {
    const JobId job = round_.back();
    round_.pop_back();
    look_at(job, round_at_);
    if (now() - begun >= kLookSlice) break;
  }
  return !round_.empty();
}

Duration ExternalJobs::gap_after(Duration cost) {
  return std::clamp(kLookCostShare * cost, kSampleInterval, kSampleIntervalMax);
}

void ExternalJobs::add_groups(MeasuredGroups& measured) const {
  for (const auto& [id, job] : external_jobs_) {
    if (job->state == ExternalJob::State::waiting || !job->process_set || !job->spec.place)
      continue;
    if (const auto* group = std::get_if<CgroupPlace>(&*job->spec.place)) measured.add(group->path);
  }
}

// What is decided upon one look may end others.
void ExternalJobs::look_at(JobId job, Instant when) {
  ExternalJob* external_job = known(job);
  if (external_job == nullptr || external_job->state == ExternalJob::State::waiting) return;
  if (external_job->state == ExternalJob::State::cancelled) {
    if (external_job->process_set && external_job->spec.hand == ControlledBy::governor)
      external_job->process_set->kill(when);
    if (now() - external_job->cancelled_at >= kCancelPatience) end(job, *external_job->dying, {});
    return;
  }
  if (!external_job->process_set) return;
  external_job->sampled = external_job->process_set->look(when);
  look_at_writes(*external_job, when);
  tell(job, *external_job, external_job->sampled);
}

// What can't be read counts as nothing: others would wait for it to show that for as long as the
// job runs.
void ExternalJobs::look_at_writes(ExternalJob& external_job, Instant when) const {
  if (config_.writes == Writes::ignored || !external_job.process_set) return;
  const Bytes here = external_job.process_set->written(when).value_or(Bytes{});
  external_job.written =
      std::max(external_job.written.value_or(Bytes{}), external_job.written_before + here);
}

}  // namespace plimsoll::supervisor
