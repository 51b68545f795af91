#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process that is stopped keeps no other one from opening an adapter: not on roce0, and not one that it has nothing to do with.
#
#   roce0_stopped.sh python3 dat-ping roced
. "$(dirname "$0")/lib.sh"

ping=$2
own_host "$3"

# serve PORT : in the background, its process in $server.
serve() {
	"$ping" -l -D roce0 -p "$1" >"$work/$1" 2>&1 </dev/null &
	server=$!
	children="$children $server"
}

answers() {
	wait_until printed '^dat-ping answers' "$work/$1" || complain "process $1: $(cat "$work/$1")"
}

serve 1
stopped=$server
answers 1
kill -STOP "$stopped"
for port in 2 3 4 5 6 7; do
	serve "$port"
done
for port in 2 3 4 5 6 7; do
	answers "$port"
done
# talks WHAT OPTIONS... : three round trips. How fast a busy machine closes behind them is no matter here.
talks() {
	what=$1
	shift
	timeout "$limit" "$ping" -c 3 "$@" >"$work/client" 2>&1
	grep -q '3 answered' "$work/client" || complain "$what: $(cat "$work/client")"
}

talks "with another one" -D roce0 -p 7 127.0.0.1
talks "within a process"
kill -CONT "$stopped"
talks "with the one that was stopped" -D roce0 -p 1 127.0.0.1
finish
