# Which folder of src/ may use which: the table of docs/architecture.md. plimsoll_library() refuses
# an edge that is not here, and a folder sees only the headers of what it links.
set(ALLOWED_base)
set(ALLOWED_loop base)
set(ALLOWED_cgroup base)
set(ALLOWED_guardian cgroup base)
set(ALLOWED_reap cgroup loop base)
set(ALLOWED_measure cgroup base)
set(ALLOWED_policy base)
set(ALLOWED_jobs policy base)
set(ALLOWED_output loop base)
set(ALLOWED_record measure policy base)
set(ALLOWED_engine record output policy measure reap guardian cgroup loop base)
set(ALLOWED_cli engine jobs record output policy measure reap guardian cgroup loop base)
