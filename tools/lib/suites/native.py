# SPDX-License-Identifier: Apache-2.0
"""Suites that are programs: the units that meson knows, and the fuzzers, built with clang."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from .tally import Tally, fail, from_output, run, skip


def unit_tests(build, environment, left_out=()):
    """Every test that meson knows but those named, run by itself so that its cases can be counted."""
    listing = subprocess.run(["meson", "introspect", "--tests", str(build)], capture_output=True, text=True, check=True)
    total = Tally()
    for test in json.loads(listing.stdout):
        if test["name"] in left_out:
            continue
        variables = {**environment, **(test["env"] if isinstance(test["env"], dict) else {})}
        status, output = run(test["cmd"], 300 * float(environment["ROOKERY_TEST_SLOWNESS"]), env=variables, cwd=test["workdir"] or build)
        tally = skip("%s\n%s" % (test["name"], output[-500:])) if status == 77 else from_output(test["name"], status, output)
        print("  %-28s %s" % (test["name"], tally), flush=True)
        total += tally
    return total if total.passed or total.failed else fail("meson knows no tests in %s" % build)


def fuzz(source, seconds):
    """Builds the libraries and every tests/fuzz/*.cpp with clang and ASan, and lets each run for some seconds."""
    targets = sorted((source / "tests" / "fuzz").glob("*.cpp"))
    if not shutil.which("clang++"):
        return skip("fuzzing: no clang++")
    if not targets:
        return fail("no fuzz targets")
    build = source / "build-fuzz"
    try:
        libraries = build_libraries(source, build)
    except subprocess.CalledProcessError as error:
        return fail("build for fuzzing\n%s" % (error.stdout or b"").decode(errors="replace")[-4000:])
    total = Tally()
    for target in targets:
        tally = fuzz_one(source, build, target, libraries, seconds)
        print("  %-28s %s" % (target.stem, tally), flush=True)
        total += tally
    return total


def build_libraries(source, build):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "check": True}
    if not (build / "build.ninja").exists():
        subprocess.run(["meson", "setup", str(build), str(source), "-Db_sanitize=address", "-Db_lundef=false", "-Dbuildtype=debugoptimized",
                        "-Dcpp_args=-fsanitize=fuzzer-no-link"], env={**os.environ, "CC": "clang", "CXX": "clang++"}, **options)
    names = subprocess.run(["ninja", "-C", str(build), "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
    libraries = [line.split(":")[0] for line in names.splitlines()
                 if line.startswith(("src/util", "src/sys/", "src/wire/", "src/contract/", "src/server/")) and line.split(":")[0].endswith(".a")]
    subprocess.run(["ninja", "-C", str(build), *libraries], **options)
    return [str(build / name) for name in libraries]


def fuzz_one(source, build, target, libraries, seconds):
    program = build / ("fuzz-" + target.stem)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libseccomp", "libcap", "spdlog"], capture_output=True, text=True).stdout.split()
    status, output = run(["clang++", "-std=c++20", "-g", "-O1", "-fsanitize=fuzzer,address", "-iquote", source / "src", target, "-o", program,
                          "-Wl,--start-group", *libraries, "-Wl,--end-group", *flags, "-lpthread"], 300)
    if status != 0:
        return fail("build of fuzz target %s\n%s" % (target.stem, output[-3000:]))
    corpus = build / ("corpus-" + target.stem)
    corpus.mkdir(exist_ok=True)
    seeds = [path for path in [source / "tests" / "fuzz" / "corpus" / target.stem, source / "tests" / "fuzz" / target.stem] if path.is_dir()]
    status, output = run([program, "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
                          "-artifact_prefix=%s/" % build, corpus, *seeds], seconds + 120, cwd=build)
    if status != 0:
        return fail("fuzz target %s\n%s" % (target.stem, output[-4000:]))
    return Tally(passed=1)


def soak(source, minutes, environment):
    """One test: nothing was violated."""
    status, output = run([sys.executable, "-B", source / "tools" / "soak", minutes], minutes * 60 + 400, env=environment)
    print("  " + "\n  ".join(output.strip().splitlines()[-2:]))
    return Tally(passed=1) if status == 0 else fail("tools/soak ended with %d\n%s" % (status, output[-6000:]))


def lint(source):
    tool = pathlib.Path(source) / "tools" / "lint"
    status, output = run([tool], 300)
    return from_output("tools/lint", status, output)
