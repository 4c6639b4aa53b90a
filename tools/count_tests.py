#!/usr/bin/env python3
"""Counts what ./test has run and ends with one line: N passed, N failed, N skipped.

    tools/count_tests.py FOLDER

The folder holds NAME.xml (CTest's JUnit reports) and checks.tsv (STATE<tab>NAME<tab>DETAIL, one line for each check
that is not a CTest test). Every GoogleTest case and every pytest case (from its summary, -rA) counts as one; so does any
other test program, and one that died before it could say how it went counts as one failure more.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

CASE_END = re.compile(r"^\[\s*(OK|SKIPPED|FAILED)\s*\] (\S+?)(?:, where .*)? \(\d+ ms\)$")
CASE_START = re.compile(r"^\[ RUN      \] (\S+)$")
SKIP_NOTE = re.compile(r"^.*:\d+: Skipped$")
PYTEST_SUMMARY = re.compile(r"^=+ short test summary info =+$")
PYTEST_CASE = re.compile(r"^(PASSED|FAILED|ERROR) (\S.*?)(?: - .*)?$")
PYTEST_SKIPS = re.compile(r"^SKIPPED \[(\d+)\] (\S+): (.*)$")


class Tally:
    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = {}  # reason -> names

    def add(self, state, name, reason=""):
        if state == "passed":
            self.passed += 1
        elif state == "failed":
            self.failures.append(name)
        else:
            self.skips.setdefault(reason or "no reason given", []).append(name)


def count_cases(output, where, tally):
    """Adds the GoogleTest cases in a program's output; returns (cases, failed cases)."""
    cases = failed = 0
    running = None
    reason = []
    in_note = False
    for line in output.splitlines():
        if start := CASE_START.match(line):
            running, reason, in_note = start.group(1), [], False
        elif end := CASE_END.match(line):
            state = {"OK": "passed", "SKIPPED": "skipped", "FAILED": "failed"}[end.group(1)]
            tally.add(state, f"{where}: {end.group(2)}", " ".join(reason))
            cases += 1
            failed += state == "failed"
            running, in_note = None, False
        elif running and SKIP_NOTE.match(line):
            in_note = True
        elif in_note and line.strip():
            reason.append(line.strip())
    if running:
        tally.add("failed", f"{where}: {running} (did not end)")
        failed += 1
        cases += 1
    return cases, failed


def count_pytest_cases(output, where, tally):
    """Adds the cases in the summary of pytest; returns (cases, failed cases)."""
    cases = failed = 0
    lines = iter(output.splitlines())
    if not any(PYTEST_SUMMARY.match(line) for line in lines):  # goes on to the line after it
        return 0, 0
    for line in lines:
        if case := PYTEST_CASE.match(line):
            passed = case.group(1) == "PASSED"
            tally.add("passed" if passed else "failed", f"{where}: {case.group(2)}")
            cases += 1
            failed += not passed
        elif skips := PYTEST_SKIPS.match(line):
            for _ in range(int(skips.group(1))):
                tally.add("skipped", f"{where}: {skips.group(2)}", skips.group(3))
            cases += int(skips.group(1))
    return cases, failed


def count_report(path, tally):
    for test in xml.parse(path).getroot().iter("testcase"):
        where = f"{path.stem}/{test.get('name')}"
        status = test.get("status")
        output = test.findtext("system-out") or ""
        cases, failed = count_cases(output, where, tally)
        if cases == 0:
            cases, failed = count_pytest_cases(output, where, tally)
        if status == "fail" and failed == 0:
            tally.add("failed", where)
        elif cases == 0 and status == "run":
            tally.add("passed", where)
        elif cases == 0 and status not in ("run", "fail"):
            skipped = test.find("skipped")
            tally.add("skipped", where, skipped.get("message", "") if skipped is not None else status or "")


def main(folder):
    tally = Tally()
    for report in sorted(folder.glob("*.xml")):
        count_report(report, tally)
    checks = folder / "checks.tsv"
    if checks.exists():
        for line in checks.read_text().splitlines():
            tally.add(*line.split("\t"))
    for reason, names in sorted(tally.skips.items()):
        print(f"skipped ({len(names)}): {reason}")
    for name in tally.failures:
        print(f"FAILED: {name}")
    skipped = sum(len(names) for names in tally.skips.values())
    print(f"{tally.passed} passed, {len(tally.failures)} failed, {skipped} skipped")
    return 1 if tally.failures or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
