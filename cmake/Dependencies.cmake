# Which folder of src/ may use which: the table of docs/architecture.md. plimsoll_library() refuses
# an edge that is not here, and a folder sees only the headers of what it links.
set(ALLOWED_base)
set(ALLOWED_loop base)
set(ALLOWED_cgroup base)
set(ALLOWED_process base)
set(ALLOWED_guardian process cgroup base)
set(ALLOWED_reap cgroup loop base)
set(ALLOWED_measure cgroup base)
set(ALLOWED_watch measure cgroup loop base)
set(ALLOWED_policy base)
set(ALLOWED_sim policy base)
set(ALLOWED_jobs policy base)
set(ALLOWED_args jobs policy base)
set(ALLOWED_output loop base)
set(ALLOWED_history policy loop base)
set(ALLOWED_record history measure policy loop base)
set(ALLOWED_engine sim record history output policy watch measure reap guardian process cgroup
  loop base)
set(ALLOWED_rpc engine record policy measure reap guardian cgroup loop base)
set(ALLOWED_web engine record measure policy watch loop base)
set(ALLOWED_daemon args rpc web engine sim jobs record history output policy watch measure reap
  guardian process cgroup loop base)
set(ALLOWED_cli args engine sim jobs record history output policy measure reap guardian process
  cgroup loop base)
