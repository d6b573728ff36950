#!/bin/bash
# An ordinary user in a subtree of pure v2.
# vm: --kernel 6.12 --timeout 1400
exec "$(dirname "$0")/pure_v2.sh" unprivileged.sh
