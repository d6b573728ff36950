#!/bin/bash
# As pure_v2.sh, of many commands and of what survives: two machines are quicker than one.
# vm: --kernel 6.1 --timeout 1500
# vm: --kernel 6.12 --timeout 1500
exec "$(dirname "$0")/pure_v2.sh" batch.sh survival.sh
