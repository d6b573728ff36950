#!/bin/bash
# The command line on a kernel whose cgroups are all v2, in a machine where everything takes longer.
# vm: --kernel 6.1 --timeout 1400 --env SCRIPTS=run_groups.sh,survival.sh
# vm: --kernel 6.12 --timeout 1400 --env SCRIPTS=run_groups.sh,wall.sh,disk.sh
set -uo pipefail
cd "$(dirname "$0")/../cli" || exit 1
# The jobs of survival.sh are never idle: twenty of them leave an emulated processor to nobody else.
export PATIENCE=300 ROUNDS=6 JOBS=8 SHORT_JOBS=300 PACE=${PACE:-3}

# What kernels differ in is groups; `test all` runs everything on both.
if ((!$#)); then
  IFS=, read -ra scripts <<<"${SCRIPTS:-batch.sh,batch_joblog.sh,run.sh,run_groups.sh,leaving.sh,runner.sh,runner_load.sh,survival.sh,wall.sh,fault_points.sh}"
  set -- "${scripts[@]}"
fi
# disk.sh has its file systems in files.
[[ " $* " != *" disk.sh "* ]] || modprobe -a loop ext4
passed=0 failed=0 skipped=0
for script in "$@"; do
  begin=$SECONDS
  output=$(env --default-signal=INT,QUIT "./$script" 2>&1)
  status=$?
  echo "--- $script: exit $status after $((SECONDS - begin)) s"
  echo "$output"
  if [[ $(tail -n 1 <<<"$output") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
  else
    failed=$((failed + 1))
  fi
done

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
