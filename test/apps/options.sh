#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every wrong command line gets one sentence on standard error and exit status 2; --help and --version work.
#
#   options.sh dat-perf dat-ping dat-info dat-srqd roce-replay
perf=$1
ping=$2
info=$3
srqd=$4
replay=$5
. "$(dirname "$0")/lib.sh"

usage "no option '-z'" "$perf" -z
usage "no option '--bogus'" "$perf" --bogus
usage "'-s' needs a value" "$perf" -s
usage "'--cores' needs a value" "$perf" --cores
usage "'--verify' takes no value" "$perf" --verify=yes
usage "'--help' takes no value" "$perf" --help=all
usage "-s takes a number" "$perf" -s -1
usage "-s takes a number" "$perf" -s 99999999999999999999
usage "-s takes a number" "$perf" -s 64KB
usage "-s takes a number" "$perf" -s 64t
usage "-s takes a number" "$perf" -s k
usage "-s takes a number" "$perf" -s 0x
usage "-s takes a number" "$perf" -s 0xk
usage "-s takes a number" "$perf" -s 17592186044416m
usage "-s takes a number" "$perf" -s ''
usage "-s takes a number of bytes from 0 to" "$perf" -s 2147483648
usage "-s takes a number of bytes from 0 to" "$perf" -s 2g
usage "-p takes a number" "$perf" -p 0
usage "-p takes a number" "$perf" -p 65536
usage "-q takes a number" "$perf" -q 0
usage "-n takes a number" "$perf" -n 0
usage "-d takes a number" "$perf" -d 1.5
usage "-m takes 256" "$perf" -m 1500
usage "-m takes 256" "$perf" -m 8192
usage "--cores takes a number" "$perf" --cores 3
usage "--loss takes a number" "$perf" --loss 1000001
usage "--reorder takes a number" "$perf" --reorder 1000001
usage "--mark takes a number" "$perf" --mark x
usage "--json= needs" "$perf" --json=
usage "no test 'send'" "$perf" -t send
usage "at least -q" "$perf" -q 8 -r 4
usage "at most -x" "$perf" -Q 8 -x 4
usage "--srq-depth takes a number from 1" "$perf" --srq-depth 0
usage "--srq-depth takes a number" "$perf" --srq-depth 1048577
usage "'--srq-depth' needs a value" "$perf" --srq-depth
usage "--low takes a number from 1" "$perf" --low 0
usage "--low takes a number" "$perf" --low -1
usage "--resize takes a number from 1" "$perf" --resize 0
usage "--resize takes a number" "$perf" --resize 1.5
usage "one of the two" "$perf" --srq-depth 64 -r 64
usage "not with --no-srq" "$perf" --no-srq --srq-depth 64
usage "not with --no-srq" "$perf" --no-srq --low 1
usage "not with --no-srq" "$perf" --no-srq --resize 1000
usage "low watermark of 9 is above the 8 buffers" "$perf" --srq-depth 8 --low 9
usage "low watermark of 9 is above the 8 buffers" "$perf" -r 8 --low 9
usage "at most -q 16383" "$perf" -q 16384 --cores 2
usage "at most -q 16383" "$perf" -q 16384 -e
usage "at most -q 16383" "$perf" -q 16384 -D loop0
usage "one of the two" "$perf" -a -s 64
usage "one of the two" "$perf" -n 10 -d 1
usage "latency" "$perf" -t send_lat -b
usage "latency" "$perf" -H
usage "--cores 2" "$perf" -e --cores 1
usage "--cores is for" "$perf" -D loop0 --cores 2
usage "needs -D" "$perf" example
usage "one host too many" "$perf" -D loop0 first second
usage "latency" "$perf" -t write_lat -b
usage "latency" "$perf" -t read_bw -H
usage "-o takes a number from 1" "$perf" -t read_bw -o 0
usage "--outs takes a number" "$perf" -t read_bw --outs 256
usage "'-o' needs a value" "$perf" -t read_bw -o
usage "'--outs' needs a value" "$perf" -t read_bw --outs
for test in send_bw send_lat write_bw write_lat; do
	usage "-o is for read_bw and atomic_bw" "$perf" -t $test -o 16
done
for test in write_bw write_lat read_bw read_lat; do
	usage "-s 0 is for send tests" "$perf" -t $test -s 0
	usage "for send tests" "$perf" -t $test --use-srq
	usage "for send tests" "$perf" -t $test -r 16
	usage "for send tests" "$perf" -t $test --srq-depth 16
	usage "for send tests" "$perf" -t $test --low 16
	usage "for send tests" "$perf" -t $test --resize 16
done
usage "-e is not for write_lat" "$perf" -t write_lat -e
usage "-n, not -d" "$perf" -t write_bw --verify -d 1
usage "there is no test" "$perf" -t read
for test in atomic_bw atomic_lat; do
	usage "an atomic is of 8 bytes" "$perf" -t $test -s 16
	usage "an atomic is of 8 bytes" "$perf" -t $test -a
done
good "usage: dat-perf" "$perf" --help
good "^dat-perf [0-9]" "$perf" --version

usage "no option '-z'" "$ping" -z
usage "needs a value" "$ping" -c
usage "-c takes a number" "$ping" -c x
usage "-s takes a number" "$ping" -s 8388609
usage "-i takes a number" "$ping" -i -5
usage "-p takes a number" "$ping" -p 0
usage "needs -D" "$ping" example
usage "needs -D" "$ping" -l
usage "one of the two" "$ping" -D loop0 -l example
usage "needs a host" "$ping" -D loop0
usage "--json= needs" "$ping" --json=
usage "one host too many" "$ping" -D loop0 first second
good "usage: dat-ping" "$ping" -h
good "^dat-ping [0-9]" "$ping" --version

usage "no option '--bogus'" "$info" --bogus
usage "no option '-z'" "$info" -z
usage "'--listen' needs a value" "$info" --metrics --listen
usage "one word too many" "$info" --metrics loop0
usage "one of the two" "$info" --metrics --watch
usage "mean nothing without --metrics" "$info" --listen 9000
usage "mean nothing without --metrics" "$info" --watch --openmetrics
usage "mean nothing without --metrics" "$info" --queue-pairs
usage "means nothing with --listen" "$info" --metrics --openmetrics --listen 9000
usage "means nothing with --metrics" "$info" --metrics --json
usage "without --watch" "$info" --metrics --count 3
usage "without --metrics or --watch" "$info" --pid 3
usage "without --metrics or --watch" "$info" --prefix roce loop0
usage "-a means nothing with" "$info" --watch -a
usage "-a means nothing with" "$info" --metrics --all
usage "-a wants the name of an adapter" "$info" -a
usage "--count takes a number from 1" "$info" --watch --count 0
usage "--pid takes a number from 1" "$info" --watch --pid x
for seconds in 0 0.01 x 1s 3601 nan inf ''; do
	usage "--watch takes seconds" "$info" --watch "$seconds"
done
usage "too many" "$info" loop0 loop1
good "usage: dat-info" "$info" -h
good "^dat-info [0-9]" "$info" --version

usage "no option '-z'" "$srqd" -z
usage "no option '--bogus'" "$srqd" --bogus
usage "'--depth' needs a value" "$srqd" --depth
usage "takes no value" "$srqd" --sink=yes
usage "--depth takes a number from 1 to 1048576, not '0'" "$srqd" --depth 0
usage "--depth takes a number" "$srqd" --depth 1048577
usage "--depth takes a number" "$srqd" --depth -1
usage "--low takes a number" "$srqd" --low x
usage "--self takes a number" "$srqd" --self 0
usage "--window takes a number" "$srqd" --window 0
usage "--size takes a number" "$srqd" -s 8388609
usage "--messages takes a number" "$srqd" -n 0
usage "-p takes a number" "$srqd" -p 65536
usage "at most --depth" "$srqd" --depth 8 --low 9
usage "give both" "$srqd" --max-depth 1024
usage "at least --depth" "$srqd" --depth 8 --low 1 --grow --max-depth 4
usage "must not be 0" "$srqd" --grow --low 0
usage "one of the two" "$srqd" --self 2 --connect example
usage "need -D" "$srqd" --connect example
usage "-D means nothing with --self" "$srqd" -D loop0 --self 2
usage "--depth means nothing with --connect" "$srqd" -D loop0 --connect example --depth 4
usage "--clients means nothing with --self" "$srqd" --self 2 --clients 3
usage "--messages means nothing without" "$srqd" -n 3
usage "more clients than" "$srqd" --self 3 --max-clients 2
usage "--json= needs" "$srqd" --json=
usage "one word too many" "$srqd" example
good "usage: dat-srqd" "$srqd" --help
good "^dat-srqd [0-9]" "$srqd" --version

usage "no option '-z'" "$replay" -z
usage "'-p' needs a value" "$replay" -p
usage "-p takes a number" "$replay" -p 65536
usage "parameters of one adapter" "$replay"
usage "parameters of one adapter" "$replay" one two
good "usage: roce-replay" "$replay" --help
good "^roce-replay [0-9]" "$replay" --version

finish
