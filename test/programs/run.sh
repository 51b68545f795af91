#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# roce-run: what it sets, what it refuses, and that all it says of a refusal is one sentence.
#
#   run.sh ROCE-RUN ROCED PATHS FOLDER       PATHS: the program that walks the path shim; FOLDER of the libraries
set -u
run=$1
roced=$2
paths=$3
folder=$4
failures=0
work=$(mktemp -d)
cleanup() {
	pid=$("$roced" --status --json 2>/dev/null | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' | head -1)
	[ -z "$pid" ] || kill "$pid"
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
unset LD_PRELOAD UDAPL_ROCE_PARAMS DAT_OVERRIDE
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR="$work/run" UDAPL_ROCE_ROCED="$roced"

complain() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# refuses STATUS WORDS ARG... : with that status, and one sentence that has the words.
refuses() {
	want=$1 words=$2
	shift 2
	"$run" "$@" >"$work/out" 2>&1 </dev/null
	status=$?
	[ $status -eq "$want" ] || complain "$*: status $status, not $want"
	grep -q "^roce-run: .*$words" "$work/out" && [ "$(wc -l <"$work/out")" -eq 1 ] || complain "$* says $(cat "$work/out"), and not $words"
}

refuses 2 'a command is missing'
refuses 2 'no option' --frob
refuses 2 'takes no command' --env true
refuses 127 'there is no command' no-such-command-of-any-package
refuses 127 'there is no command' "$work/nothing"
refuses 127 'there is no command' "$work"
mkfifo -m 755 "$work/fifo"
refuses 127 'there is no command' "$work/fifo"
echo text >"$work/text"
refuses 126 'may not be executed' "$work/text"
chmod 755 "$work/text"
refuses 126 'neither a program nor a script' "$work/text"
printf '#!%s\n' "$work/text" >"$work/script"
chmod 755 "$work/script"
refuses 126 "$work/text is neither" "$work/script"
printf '#! %s -x\n' "$work/loop" >"$work/loop"
chmod 755 "$work/loop"
refuses 126 'scripts of scripts' "$work/loop"
printf '#!%s\n' "$work/nothing" >"$work/orphan"
chmod 755 "$work/orphan"
refuses 127 "$work/nothing is not there" "$work/orphan"
ln -s /bin/true "$work/s0"
for i in 1 2 3 4 5 6; do
	printf '#!%s\n' "$work/s$((i - 1))" >"$work/s$i"
	chmod 755 "$work/s$i"
done
"$work/s5" >"$work/out" && "$run" "$work/s5" >"$work/out" || complain "five scripts in a row run without roce-run alone"
refuses 126 'scripts of scripts' "$work/s6"
# Another architecture: byte 18 of the header is its number. And no loader: a header that says of no segment.
true=$(readlink -f "$(command -v env)")
cp "$true" "$work/arm"
printf '\267' | dd of="$work/arm" bs=1 seek=18 conv=notrunc 2>/dev/null
refuses 126 'another architecture' "$work/arm"
# One of 32 bits: byte 4.
cp "$true" "$work/small"
printf '\001' | dd of="$work/small" bs=1 seek=4 conv=notrunc 2>/dev/null
refuses 126 'another architecture' "$work/small"
cp "$true" "$work/static"
printf '\0\0' | dd of="$work/static" bs=1 seek=56 conv=notrunc 2>/dev/null
refuses 126 'linked statically' "$work/static"
if [ "$(id -u)" -eq 0 ]; then
	cp "$true" "$work/setuid"
	chown nobody "$work/setuid"
	chmod 4711 "$work/setuid"
	refuses 126 'rights of its own' "$work/setuid"
	cp "$true" "$work/setgid"
	chgrp nogroup "$work/setgid"
	chmod 2711 "$work/setgid"
	refuses 126 'rights of its own' "$work/setgid"
fi
"$run" --version | grep -q '^roce-run [0-9]' || complain "no version"
"$run" --help | grep -q '^usage: roce-run COMMAND' || complain "no usage"

# The command's status, arguments and standard input are its own.
"$run" sh -c 'exit 42'
[ $? -eq 42 ] || complain "the status of a command is lost"
echo words | "$run" sh -c 'read -r x; [ "$x $1" = "words -e two  blanks" ]' sh '-e two  blanks' || complain "arguments or input are lost"
[ "$(PATH="$work:$PATH" "$run" sh -c 'echo $0')" = sh ] || complain "a command is not called as it was"

# The environment from before stays behind ours, and twice is once.
set_as=$(LD_LIBRARY_PATH=/usr/lib/here LD_PRELOAD=libc.so.6 "$run" "$run" sh -c 'echo "$LD_LIBRARY_PATH $LD_PRELOAD"')
[ "$set_as" = "$folder:/usr/lib/here $folder/paths/libroce-paths.so:libc.so.6" ] || complain "set is $set_as"
before=$(env | sort | grep -v '^_=')
after=$("$run" env | sort | grep -v '^_=' | grep -v '^LD_PRELOAD=\|^LD_LIBRARY_PATH=')
[ "$(echo "$before" | grep -v '^LD_LIBRARY_PATH=')" = "$after" ] || complain "more than two variables differ"
"$run" --env >"$work/env" && (. "$work/env" && [ "$(ls /sys/class/infiniband)" = roce0 ]) || complain "--env is not for a shell: $(cat "$work/env")"

# The shim: each function; children of children; other paths; several at once.
"$run" "$paths" >"$work/out" 2>&1 || complain "the shim: $(cat "$work/out")"
[ "$("$run" sh -c 'sh -c "cat /sys/class/infiniband/*/ports/1/gid_attrs/types/0"')" = "RoCE v2" ] || complain "a child of a child finds no file"
for i in 1 2 3 4; do
	("$run" sh -c 'ls /sys/class/infiniband && ls -d /proc/self' >"$work/at$i" 2>&1) &
done
wait
[ "$(cat "$work"/at? | sort | uniq -c | tr -s ' \n' ' ')" = " 4 /proc/self 4 roce0 " ] || complain "several at once: $(cat "$work"/at?)"
if command -v ibv_devices >/dev/null; then
	"$run" ibv_devices 2>&1 | grep -q roce0 || complain "ibv_devices has no roce0"
fi
[ "$failures" -eq 0 ]
