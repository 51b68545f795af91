#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The process of the uplink, as roced starts it and watches it: a script in its place.
#
#   uplink_child.sh python3 roced
roced=$2
. "$(dirname "$0")/../apps/lib.sh"

dir=$out/dir
mkdir -m 700 "$dir"
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$out"' EXIT

# fake BODY : what runs instead of roced-uplink.
fake() {
	printf '#!/bin/sh\n%s\n' "$1" >"$out/fake.new"
	chmod 755 "$out/fake.new"
	mv "$out/fake.new" "$out/fake"
}

# begin OPTIONS... : roced with the fake; its number is $pid.
begin() {
	: >"$out/log"
	UDAPL_ROCE_UPLINK=$out/fake "$roced" --dir "$dir" --port net_null0,size=64 --ip 192.0.2.1/24,2001:db8::1/64 "$@" \
		2>"$out/log" </dev/null &
	pid=$!
}

# says WORDS : roced does.
says() {
	wait_until printed "$1" "$out/log" || complain "roced does not say '$1': $(cat "$out/log")"
}

# until_gone FILE : the process whose number stands there has ended.
until_gone() {
	wait_until gone "$(cat "$1")" || complain "process $(cat "$1") lives on"
}

# until_there FILE
until_there() {
	wait_until [ -s "$1" ] || complain "$1 does not come: $(cat "$out/log")"
}

# Parameters as in dat.conf, an address each.
fake "printf '%s\n' \"\$@\" >'$out/args.new'; mv '$out/args.new' '$out/args'; exec tail -f /dev/null"
begin --gw 192.0.2.254 --mtu 1024
until_there "$out/args"
cat >"$out/want" <<END
--dir
$dir
--params
port=net_null0,size=64 ip=192.0.2.1/24 ip=2001:db8::1/64 gw=192.0.2.254 mtu=1024
END
cmp "$out/want" "$out/args" || complain "the arguments are $(cat "$out/args")"
[ -e "$dir/roced.uplink" ] || complain "no mark of a roced with an uplink"
good ', without its uplink$' "$roced" --status --dir "$dir"
kill "$pid"
end_of "$pid" || complain "roced ends with $? on SIGTERM"
[ ! -e "$dir/roced.uplink" ] || complain "the mark is left"

# It ends in order when roced does, and at once when roced is killed.
fake "echo \$\$ >'$out/child'; trap 'echo asked >>\"$out/log\"; exit 0' TERM; while :; do sleep 0.01; done"
rm -f "$out/child"
begin
until_there "$out/child"
kill "$pid"
end_of "$pid"
until_gone "$out/child"
grep -q '^asked' "$out/log" || complain "the uplink was not asked to end: $(cat "$out/log")"
rm -f "$out/child"
begin
until_there "$out/child"
kill -9 "$pid"
wait "$pid" 2>/dev/null
until_gone "$out/child"
grep -q '^asked' "$out/log" && complain "the uplink was asked by a roced that was killed"
[ -e "$dir/roced.uplink" ] || complain "a roced that was killed has removed its mark"

# Parameters that the program refuses end roced, and another end does not.
fake 'exit 2'
begin
end_of "$pid"
status=$?
[ "$status" -eq 2 ] || complain "refused parameters: roced exits with $status"
says 'does not take its parameters: port=net_null0,size=64 ip='
fake 'exit 1'
begin
says 'with status 1, and is started again in 0 ms'
says 'in 100 ms'
says 'in 200 ms'
fake "kill -9 \$\$"
says 'by signal 9, and is started again in'
mv "$out/fake" "$out/none"
says 'before it began'
fake "echo \$\$ >'$out/child'; exec tail -f /dev/null"
rm -f "$out/child"
until_there "$out/child"
kill -0 "$(cat "$out/child")" || complain "the uplink is not started again"
kill "$pid"
end_of "$pid"
until_gone "$out/child"
pid=
finish
