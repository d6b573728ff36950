# Which room of src/ may use which: the table of docs/architecture.md. plimsoll_library() refuses
# an edge that is not here, tools/tidy.py an include.
set(ALLOWED_base)
set(ALLOWED_base/loop base)
set(ALLOWED_kernel/procfs base)
set(ALLOWED_kernel/cgroup kernel/procfs base)
set(ALLOWED_kernel/counters kernel/cgroup base)
set(ALLOWED_kernel/monitor kernel/counters kernel/cgroup base/loop base)
set(ALLOWED_kernel/reap kernel/cgroup base/loop base)
set(ALLOWED_guardian kernel/procfs kernel/cgroup base)
set(ALLOWED_policy/job base)
set(ALLOWED_policy/queue policy/job base)
set(ALLOWED_policy/estimator policy/job base)
set(ALLOWED_policy/governor policy/estimator policy/job base)
set(ALLOWED_policy/scheduler policy/governor policy/estimator policy/queue policy/job base)
set(ALLOWED_sim policy/scheduler policy/governor policy/estimator policy/job base)
set(ALLOWED_jobfile policy/job base)
set(ALLOWED_args jobfile base)
set(ALLOWED_report policy/governor policy/estimator policy/job kernel/counters base)
set(ALLOWED_store/history policy/estimator base/loop base)
set(ALLOWED_store/runs store/history report policy/job kernel/counters base/loop base)
set(ALLOWED_analysis store/runs store/history report policy/estimator policy/job kernel/counters
  base)
set(ALLOWED_analysis/trace analysis store/runs report policy/job kernel/counters base)
set(ALLOWED_page analysis store/runs report policy/job kernel/counters base)
set(ALLOWED_supervisor/output base/loop base)
set(ALLOWED_supervisor/processes guardian kernel/reap kernel/counters kernel/procfs kernel/cgroup
  base/loop base)
set(ALLOWED_supervisor supervisor/processes report policy/scheduler policy/governor policy/job
  guardian kernel/reap kernel/monitor kernel/counters kernel/procfs kernel/cgroup base/loop base)
set(ALLOWED_supervisor/run supervisor supervisor/output store/history report policy/scheduler
  policy/governor policy/estimator policy/job guardian kernel/counters kernel/procfs kernel/cgroup
  base/loop base)
set(ALLOWED_supervisor/sharing supervisor store/history policy/scheduler policy/governor guardian
  kernel/counters base/loop base)
set(ALLOWED_supervisor/control supervisor/sharing report policy/scheduler policy/job base/loop base)
set(ALLOWED_supervisor/external supervisor report policy/scheduler policy/governor policy/job
  kernel/counters kernel/procfs kernel/cgroup base/loop base)
set(ALLOWED_supervisor/light supervisor/external supervisor supervisor/processes policy/scheduler
  policy/job kernel/reap kernel/cgroup base/loop base)
set(ALLOWED_supervisor/doctor supervisor/run supervisor supervisor/processes report guardian
  kernel/monitor kernel/counters kernel/cgroup base/loop base)
set(ALLOWED_govern supervisor/run supervisor/light supervisor supervisor/processes report
  policy/scheduler policy/estimator policy/job guardian kernel/reap kernel/counters kernel/procfs
  kernel/cgroup base/loop base)
set(ALLOWED_daemon/grpc supervisor/external supervisor policy/job base/loop base)
set(ALLOWED_daemon/jobs supervisor report policy/scheduler policy/job base/loop base)
set(ALLOWED_daemon/runner daemon/jobs daemon/grpc supervisor report policy/job guardian base/loop
  base)
set(ALLOWED_daemon/api daemon/jobs daemon/grpc supervisor/external supervisor/control supervisor
  report policy/job guardian base/loop base)
set(ALLOWED_daemon/http base/loop base)
set(ALLOWED_daemon/metrics daemon/http supervisor/sharing report policy/scheduler policy/job
  kernel/monitor kernel/counters base/loop base)
set(ALLOWED_daemon/dashboard daemon/http supervisor/control page store/runs store/history report
  base/loop base)
set(ALLOWED_daemon daemon/dashboard daemon/metrics daemon/http daemon/api daemon/runner daemon/jobs
  daemon/grpc supervisor/light supervisor/external supervisor/control supervisor/sharing
  supervisor/run supervisor store/history report args jobfile policy/governor policy/job guardian
  base/loop base)
set(ALLOWED_cli/progress supervisor/control supervisor/output report policy/governor policy/job
  base/loop base)
set(ALLOWED_cli/command cli/progress supervisor/run supervisor store/runs store/history report
  args policy/estimator policy/queue policy/job kernel/reap base/loop base)
set(ALLOWED_cli cli/runs cli/govern cli/exec cli/command cli/top cli/link cli/progress govern
  supervisor/doctor supervisor/light supervisor/control supervisor/sharing supervisor/run supervisor
  supervisor/output store/runs store/history report jobfile policy/governor policy/queue policy/job
  guardian kernel/counters kernel/procfs kernel/cgroup base/loop base)
set(ALLOWED_cli/link supervisor/light supervisor/control supervisor/sharing store/runs base)
set(ALLOWED_cli/exec cli/command cli/link report policy/job kernel/procfs base/loop base)
set(ALLOWED_cli/govern govern cli/command cli/progress supervisor/light supervisor/control
  supervisor/sharing supervisor/run supervisor report policy/job guardian base/loop base)
set(ALLOWED_cli/runs cli/command cli/progress supervisor page analysis/trace analysis store/runs
  store/history report sim base/loop base)
set(ALLOWED_cli/top cli/link cli/progress supervisor/control store/runs report policy/scheduler
  policy/job base/loop base)
