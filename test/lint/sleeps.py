#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sleeps: tests wait for conditions, not for times. A sleep of more than 0.2 s, or of a time that is no constant, has a
comment beside it or right above: for which condition it is, and why the test cannot see that.
"""
import re
import sys
from pathlib import Path

import tree

LONGEST_S = 0.2
WHERE = ("test", "debian/tests", "devtools/package-check.sh")
SHELL_NAME = re.compile(r"^#(?:!.*\b| shellcheck shell=)(?:ba|da)?sh\b")
SHELL = re.compile(r"(?<![\w./$<-])sleep +(\"[^\"]*\"|'[^']*'|[^\s;|&)]+)")
PYTHON = re.compile(r"\btime\.sleep\((.*?)\)(?=$|[\s:;,)])")
# A whole command for a shell, elsewhere perhaps; ["sleep", "1000"] is a process that lives.
PYTHON_COMMAND = re.compile(r"[\"']sleep +([\d.]+)[\"']")
C = re.compile(r"(?<!\w)(usleep|sleep|nanosleep|clock_nanosleep)\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
C_DEFINE = re.compile(r"^#define\s+(\w+)\s+(?:\\\n\s*)?([0-9][\w.]*)", re.MULTILINE)
PYTHON_DEFINE = re.compile(r"^(\w+) = ([0-9][0-9._e]*)", re.MULTILINE)
TIMESPEC = r"struct timespec {name} = {{ (?:\.tv_nsec = ([0-9]+)) }};"
C_UNITS = {"sleep": 1, "usleep": 1e-6}
SIMPLE = re.compile(r"[\d.\s*/+()e-]+")


def number(text, names):
    """The value of an expression of constants, or None."""
    text = re.sub(r"[A-Za-z_]\w*", lambda word: names.get(word.group(), word.group()), text)
    text = re.sub(r"(?<=\d)[uUlL]+\b", "", text)
    return eval(text) if SIMPLE.fullmatch(text) else None  # digits and operators alone


def shell_times(line, _text):
    line = re.sub(r"(^|\s)#.*", "", line)
    for match in SHELL.finditer(line):
        yield number(match.group(1).strip("\"'"), {})


def python_times(line, text):
    line = re.sub(r"(^|\s)#.*", "", line)
    for match in [*PYTHON.finditer(line), *PYTHON_COMMAND.finditer(line)]:
        yield number(match.group(1), dict(PYTHON_DEFINE.findall(text)))


def c_times(line, text):
    line = re.sub(r"/\*.*?\*/|/\*.*|//.*|^\s*\*.*", "", line)
    # A definition, in place of the real one, sleeps nowhere.
    if line[:1].isalpha():
        return
    for match in C.finditer(line):
        name, argument = match.groups()
        if name in C_UNITS:
            value = number(argument, dict(C_DEFINE.findall(text)))
            yield None if value is None else value * C_UNITS[name]
            continue
        variable = re.search(r"&(\w+)", argument)
        spec = variable and re.search(TIMESPEC.format(name=variable.group(1)), text)
        yield int(spec.group(1)) * 1e-9 if spec else None


def reader(path, lines):
    if path.suffix == ".py":
        return python_times, re.compile(r"^\s*#"), re.compile(r"\s#")
    if path.suffix in (".c", ".h"):
        return c_times, re.compile(r"^\s*(/\*|\*|//)|\*/$"), re.compile(r"/\*|//")
    if path.suffix in ("", ".sh") and any(map(SHELL_NAME.match, lines[:3])):
        return shell_times, re.compile(r"^\s*#(?!!|\s*shellcheck)"), re.compile(r"\s#")
    return None


def judge(path):
    """(number of the line, rule) for each sleep that says nothing."""
    lines = tree.lines(path)
    how = reader(path, lines)
    if how is None:
        return
    times, above, beside = how
    text = "\n".join(lines)
    for i, line in enumerate(lines):
        if "sleep" not in line or beside.search(line) or (i > 0 and above.search(lines[i - 1])):
            continue
        for seconds in times(line, text):
            if seconds is None or seconds > LONGEST_S:
                yield i + 1, "a sleep of " + ("a time that is no constant" if seconds is None else f"{seconds:g} s") + \
                    " without a comment: for which condition is it?"


def check(root):
    found = [path for place in WHERE for path in ([root / place] if (root / place).is_file() else tree.files(root / place))]
    # This file has only the sleeps of its cases.
    return [(f"{tree.relative(path, root)}:{line}", rule) for path in found if path.name != Path(__file__).name
            for line, rule in judge(path)]


SAYS_NOTHING = "without a comment"
CASES = [
    ("a short one of a shell", {"test/a.sh": "#!/bin/sh\nsleep 0.05\n"}, None),
    ("a long one of a shell", {"test/a.sh": "#!/bin/sh\nserver & sleep 1; client\n"}, "test/a.sh:2: a sleep of 1 s"),
    ("one in a loop", {"test/a.sh": "#!/bin/sh\nwhile true; do sleep 0.5; done\n"}, SAYS_NOTHING),
    ("one without a suffix", {"debian/tests/a": "#!/bin/sh\nsleep 2\n"}, "debian/tests/a:2: a sleep of 2 s"),
    ("the check of the packages", {"devtools/package-check.sh": "# shellcheck shell=bash\nsleep 2\n"}, SAYS_NOTHING),
    ("what is elsewhere", {"devtools/other.sh": "# shellcheck shell=bash\nsleep 2\n"}, None),
    ("a variable", {"test/a.sh": "#!/bin/sh\nsleep \"$seconds\"\n"}, "no constant"),
    ("a comment above", {"test/a.sh": "#!/bin/sh\n# until the kernel forgets it\nsleep 2\n"}, None),
    ("a comment beside", {"test/a.sh": "#!/bin/sh\nsleep 2 # until the kernel forgets it\n"}, None),
    ("a comment further above", {"test/a.sh": "#!/bin/sh\n# so\ntrue\nsleep 2\n"}, SAYS_NOTHING),
    ("another word", {"test/a.sh": "#!/bin/sh\nno_sleep 2\necho $sleep 3\n"}, None),
    ("a short one of Python", {"test/a.py": "PAUSE = 0.1\ntime.sleep(PAUSE)\ntime.sleep(0.02)\n"}, None),
    ("a long one of Python", {"test/a.py": "PAUSE = 0.3\nif a:\n    time.sleep(PAUSE)\n"}, "test/a.py:3: a sleep of 0.3 s"),
    ("a command of Python", {"test/a.py": "run(\"sleep 1\")\n"}, "test/a.py:1: a sleep of 1 s"),
    ("a process that lives", {"test/a.py": "start([\"sleep\", \"1000\"])\n"}, None),
    ("one that varies", {"test/a.py": "time.sleep(delay)\n"}, "no constant"),
    ("one that says why", {"test/a.py": "time.sleep(delay)  # until it is forgotten\n"}, None),
    ("short ones of C", {"test/a.c": "#define NAP_US 3000u /**< x */\n\tusleep(NAP_US);\n\tusleep(200 * 1000);\n"}, None),
    ("a long one of C", {"test/a.c": "#define NAP_US 300000u\n\tusleep(NAP_US);\n"}, "test/a.c:2: a sleep of 0.3 s"),
    ("a second", {"test/a.c": "\tsleep(1);\n"}, SAYS_NOTHING),
    ("one that says why in C", {"test/a.c": "\t/* Until it is forgotten. */\n\tsleep(1);\n"}, None),
    ("a short timespec", {"test/a.c": "const struct timespec nap = { .tv_nsec = 1000000 };\n\tnanosleep(&nap, NULL);\n"}, None),
    ("a long timespec", {"test/a.c": "const struct timespec nap = { .tv_nsec = 500000000 };\n\tnanosleep(&nap, NULL);\n"},
     SAYS_NOTHING),
    ("a timespec of anything", {"test/a.c": "\tnanosleep(&nap, NULL);\n"}, "no constant"),
    ("a definition", {"test/a.c": "nanosleep(const struct timespec *wait, struct timespec *left)\n"}, None),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
