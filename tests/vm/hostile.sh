#!/bin/bash
# Jobs that attack, in a machine with pure v2 and little memory, where everything takes longer and all
# files are in a tmpfs: so many that they fit below the line.
# vm all: --kernel 6.1 --timeout 2300
# vm: --kernel 6.12 --timeout 2300
export PACE=5 LINE_MIB=300 FILES=10000
exec "$(dirname "$0")/pure_v2.sh" hostile.sh
