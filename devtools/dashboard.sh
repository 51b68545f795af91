# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh dashboard`: a picture of docs/dashboards/udapl-roce.json, of programs at work, with Prometheus between.

# seconds of work that the picture shows
dashboard_seconds=60

# dashboard_roced FOLDER ROLE ADDRESS: the roced of a host, which this becomes.
dashboard_roced() {
	XDG_RUNTIME_DIR=$1 exec "$apps/roced" --port "net_memif0,role=$2,socket=$work/wire" --ip "$3/24"
}

# A server whose shared queue is refilled, messages over a wire that loses, reorders and marks frames, and a server on roce0
# with a client of its host and one of another, whose uplinks net_memif joins. The exporter tells Prometheus of all of the first
# host and of its roced, every second.
cmd_dashboard() {
	[ $# -eq 0 ] || fail "there is no option '$1': dashboard has none"
	need_packages "${packages_dashboard[@]}"
	cmd_build
	local apps=$build_root/release/apps work pids=()
	work=$(mktemp -d)
	mkdir -m 700 "$work/far"
	# shellcheck disable=SC2064 # now
	trap "rm -rf '$work'" EXIT
	cat >"$work/prometheus.yml" <<-END
		global: {scrape_interval: 1s}
		scrape_configs: [{job_name: udapl-roce, static_configs: [{targets: ['127.0.0.1:19121']}]}]
	END
	export DAT_OVERRIDE= XDG_RUNTIME_DIR=$work RUNTIME_DIRECTORY=$work
	"$apps/dat-srqd" --self 8 -n 1000000000 >"$work/srqd" 2>&1 &
	pids+=($!)
	"$apps/dat-perf" -q 4 -s 16384 -d 600 --loss 200 --reorder 500 --mark 2000 >"$work/perf" 2>&1 &
	pids+=($!)
	dashboard_roced "$work" server 192.0.2.1 >"$work/roced1" 2>&1 &
	pids+=($!)
	dashboard_roced "$work/far" client 192.0.2.2 >"$work/roced2" 2>&1 &
	pids+=($!)
	"$apps/dat-srqd" -D roce0 -p 7 --interval 0 >"$work/roce0" 2>&1 &
	pids+=($!)
	sleep 5
	"$apps/dat-srqd" -D roce0 -p 7 --connect 127.0.0.1 -n 1000000000 >"$work/client1" 2>&1 &
	pids+=($!)
	XDG_RUNTIME_DIR=$work/far RUNTIME_DIRECTORY=$work/far \
		"$apps/dat-srqd" -D roce0 -p 7 --connect 192.0.2.1 -n 1000000000 >"$work/client2" 2>&1 &
	pids+=($!)
	"$apps/dat-info" --metrics --listen 127.0.0.1:19121 >"$work/info" 2>&1 &
	pids+=($!)
	prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" \
		--web.listen-address=127.0.0.1:19122 >"$work/prometheus" 2>&1 &
	pids+=($!)
	say "programs are at work for $((dashboard_seconds + 10)) seconds"
	sleep $((dashboard_seconds + 10))
	local status=0
	python3 -B devtools/dashboard/draw.py docs/dashboards/udapl-roce.json http://127.0.0.1:19122 $dashboard_seconds \
		docs/dashboards/udapl-roce.svg || status=1
	kill "${pids[@]}" || status=1
	wait || true
	[ $status -eq 0 ] || { tail -n 5 "$work"/*; fail "the picture could not be drawn: see above"; }
	say "the picture is docs/dashboards/udapl-roce.svg"
}
