#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs at work on loop0 and loop1, small: what they print, JSON that is JSON, and failures at run time
# that end in one sentence of the program and exit status 1.
#
#   running.sh python3 dat-perf dat-ping dat-info
python=$1
perf=$2
ping=$3
info=$4
. "$(dirname "$0")/lib.sh"

fails "no interface adapter is named 'nowhere'" "$perf" -D nowhere
fails "no interface adapter is named '5'; a duration in seconds is --duration 5, or dat_send_bw -D 5" "$perf" -D 5
fails "no interface adapter is named 'nowhere'" "$ping" -D nowhere -l
fails "no interface adapter is named 'nowhere'" "$info" nowhere
fails "cannot resolve" "$perf" -D loop0 no-such-host.invalid
echo 'bad u1.2 threadsafe default libdaplroce.so.1 roce.1.0 "ip=192.0.2.9/24" ""' >"$out/dat.conf"
DAT_OVERRIDE=$out/dat.conf fails "cannot open\\|is known" "$info" bad

works "$info"
grep -q '^loop0' "$out/stdout" || complain "dat-info does not list loop0"
works "$info" --json loop0
json "o['name'] == 'loop0' and o['provider']['srq_supported'] and o['adapter']['max_srqs'] > 0"

works "$ping" -c 3 -i 1
grep -q '^3 sent, 3 answered, 0% lost' "$out/stdout" || complain "dat-ping: $(cat "$out/stdout")"
works "$ping" -c 2 -i 1 -s 100000
works "$ping" -c 2 -i 1 -s 0
works "$ping" -c 3 -i 1 --json
json "o['tool'] == 'dat-ping' and o['config']['mode'] == 'loop' and o['config']['count'] == 3 and 'error' not in o"
json "[(r['sent'], r['answered'], r['lost_percent'], r['interrupted']) for r in o['results']] == [(3, 3, 0, False)]"
json "0 < o['results'][0]['t_min'] <= o['results'][0]['t_avg'] <= o['results'][0]['t_max'] and o['results'][0]['t_mdev'] >= 0"
works "$ping" -c 2 -i 1 -s 100 --json="$out/ping.json"
grep -q '^2 sent, 2 answered' "$out/stdout" || complain "dat-ping with JSON in a file: $(cat "$out/stdout")"
json "o['results'][0]['MsgSize'] == 100" "$out/ping.json"
fails "cannot resolve" "$ping" --json="$out/failed.json" -D loop0 no-such-host.invalid
json "'cannot resolve' in o['error'] and o['results'] == []" "$out/failed.json"

works "$perf" -n 2000
grep -q '#bytes *#iterations *BW peak\[Gb/sec\] *BW average\[Gb/sec\] *MsgRate\[Mpps\]' "$out/stdout" ||
	complain "the columns of dat-perf: $(cat "$out/stdout")"
grep -q '^ 64  *2000 ' "$out/stdout" || complain "the row of dat-perf: $(cat "$out/stdout")"
works "$perf" -n 2000 --json
json "o['tool'] == 'dat-perf' and o['results'][0]['n_iterations'] == 2000 and o['config']['qps'] == 1"
json "o['results'][0]['cpu_nsec'] > 0 and o['results'][0]['connect_usec'] > 0"
json "o['results'][0]['BW_peak'] >= o['results'][0]['BW_average'] > 0 and o['results'][0]['MsgRate'] > 0"
works "$perf" -n 2000 -t send_lat -H --json="$out/lat.json"
grep -q 't_typical\[usec\]' "$out/stdout" || complain "the columns of send_lat: $(cat "$out/stdout")"
json "0 < o['results'][0]['t_min'] <= o['results'][0]['t_typical'] <= o['results'][0]['p99'] <= o['results'][0]['t_max']" \
	"$out/lat.json"
fails "cannot resolve" "$perf" --json="$out/failed.json" -D loop0 no-such-host.invalid
json "'cannot resolve' in o['error'] and o['results'] == []" "$out/failed.json"

# Every message once, in order, intact: sizes around the packet's, endpoints, directions, and queues.
for size in 0 1 7 33 64 4096 4097 65536; do
	works "$perf" -n 500 --verify -s $size
	works "$perf" -n 500 --verify -s $size -q 8 -b
done
works "$perf" -n 20 --verify -s 1048576
works "$perf" -n 1000 --verify --no-srq -q 4
works "$perf" -n 1000 --verify -q 64
works "$perf" -n 1000 --verify -t send_lat -q 3
works "$perf" -n 1000 --verify -r 4 -x 3 -Q 2
works "$perf" -n 1000 --verify -r 1 -x 1 -Q 1
works "$perf" -n 3000 --verify -m 256 -s 1000
# As many endpoints as an adapter has; with the one over which two threads talk there is one less.
works "$perf" -n 32768 --verify -q 16384 --json
json "o['config']['qps'] == 16384 and o['results'][0]['n_iterations'] == 32768"
works "$perf" -n 32768 -q 16384 --no-srq --json
json "o['config']['rx_depth'] == 31 and o['config']['qps'] == 16384"
# The shared queue alone may be shorter than the number of endpoints; its watermark and its size on the move. The program's own
# polls alone move frames, and it posts 32 messages before it polls: these queues become empty on any machine.
UDAPL_ROCE_PARAMS=progress=manual
export UDAPL_ROCE_PARAMS
works "$perf" -n 2000 --verify -q 64 --srq-depth 8 --json
json "o['config']['rx_depth'] == 8 and o['config']['tx_depth'] == 8 and o['results'][0]['rnr_nak_received'] > 0"
json "o['results'][0]['rnr_naks'] == o['results'][0]['rnr_nak_sent'] > 0"
works "$perf" -n 2000 --verify --srq-depth 8 --low 8
grep -q '^ RNR NAKs  *: [1-9][0-9]* sent, [1-9][0-9]* received' "$out/stdout" ||
	complain "dat-perf does not tell of its RNR NAKs: $(cat "$out/stdout")"
grep -q '^ Low watermark  *: [1-9][0-9]* events' "$out/stdout" ||
	complain "dat-perf does not tell of its events: $(cat "$out/stdout")"
unset UDAPL_ROCE_PARAMS
for test in send_bw send_lat; do
	works "$perf" -t $test -n 50000 --verify -q 3 --low 96 --srq-depth 96 --resize 10000 --json
	json "o['results'][0]['srq_low_watermark_events'] > 0 and o['results'][0]['srq_resizes'] > 0"
	json "o['config']['srq_low_watermark'] == 96 and o['config']['srq_resizes_per_second'] == 10000"
	json "o['results'][0]['srq_resizes_refused'] > 0"
done
fails "above the 512 buffers" "$perf" --low 513
works "$perf" -d 1 --verify --json
json "o['results'][0]['n_iterations'] > 0 and sum(o['results'][0]['violations'].values()) == 0"
works "$perf" -n 2000 --verify --loss 10000 --json
json "o['results'][0]['retransmits'] > 0 and sum(o['results'][0]['violations'].values()) == 0"

# Everything that a wire can do to frames, at once.
faults="--loss 5000 --duplicate 20000 --reorder 20000 --corrupt 10000 --mark 5000"
for test in send_bw write_bw read_bw send_lat; do
	works "$perf" -t $test -n 2000 -s 9000 --verify $faults --json
	json "o['results'][0]['retransmits'] > 0 and sum(o['results'][0]['violations'].values()) == 0"
	json "o['config']['reorder_ppm'] == 20000 and o['config']['mark_ppm'] == 5000"
done

# RDMA: what a WRITE left at the peer, and what a READ brought. By their last byte alone latency WRITEs are seen.
for test in write_bw write_lat read_bw; do
	for size in 1 2 8 64 4097 65536; do
		works "$perf" -t $test -n 500 --verify -s $size
		works "$perf" -t $test -n 500 --verify -s $size -q 8
	done
	works "$perf" -t $test -n 20 --verify -s 1048576
	works "$perf" -t $test -n 24 --verify -s 1048576 -q 8
	works "$perf" -t $test -n 1000 --verify -q 64 -x 3 --no-srq
	works "$perf" -t $test -n 2000 --verify --loss 10000 --json
	json "o['results'][0]['retransmits'] > 0 and sum(o['results'][0]['violations'].values()) == 0"
	json "o['results'][0]['test'] == '$test' and o['results'][0]['n_iterations'] == 2000"
	works "$perf" -t $test -n 64 --verify --loss 10000 -s 65536 -q 8
	works "$perf" -t $test -d 1 --json
	json "o['results'][0]['n_iterations'] > 0"
done
for test in read_lat atomic_bw atomic_lat; do
	works "$perf" -t $test -n 2000 --verify -q 3 --json
	json "o['results'][0]['test'] == '$test' and o['results'][0]['n_iterations'] == 2000"
	json "sum(o['results'][0]['violations'].values()) == 0"
	works "$perf" -t $test -n 1000 --verify -q 3 $faults
	works "$perf" -t $test -d 1 --verify
done
works "$perf" -t atomic_bw -n 1000 --verify -b -q 3
for test in write_bw read_bw; do
	works "$perf" -t $test -n 1000 --verify -b -q 3
	works "$perf" -t $test -n 1000 -q 3
done
works "$perf" -t write_bw -n 100
grep -q 'RDMA_Write BW Test' "$out/stdout" || complain "the title of write_bw: $(cat "$out/stdout")"
works "$perf" -t write_lat -n 100
grep -q 't_typical\[usec\]' "$out/stdout" || complain "the columns of write_lat: $(cat "$out/stdout")"
works "$perf" -t read_bw -n 100
grep -q '^ Outstand reads  *: 16$' "$out/stdout" || complain "the depth of read_bw: $(cat "$out/stdout")"
for outs in 1 3 64; do
	works "$perf" -t read_bw -n 500 --verify --outs $outs -s 9000 --json
	json "o['config']['outs'] == $outs"
done
fails "at most 64 READs" "$perf" -t read_bw -o 65

if [ "$(nproc)" -ge 2 ]; then
	for test in write_bw write_lat read_bw; do
		works "$perf" -t $test -n 2000 --verify --cores 2 -q 3
	done
	for test in write_bw read_bw; do
		works "$perf" -t $test -n 2000 --verify --cores 2 -b
		works "$perf" -t $test -n 2000 --verify -e
	done
	works "$perf" -n 2000 --verify --cores 2
	works "$perf" -n 500 --verify --cores 2 -t send_lat
	works "$perf" -n 32768 --cores 2 -q 16383
	works "$perf" -n 500 --verify -e
	works "$perf" -n 500 --verify -e -b
	works "$perf" -n 20000 --verify --cores 2 -b --low 500 --resize 10000
	works "$perf" -n 2000 --verify -e --low 500 --resize 10000
fi

finish
